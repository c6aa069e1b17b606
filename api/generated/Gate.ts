/* Generated from manifests/crds/gating.toolkit.fluxcd.io_gates.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * While it is closed, a Gate holds the Flux objects and Rollouts that require it.
 */
export interface Gate {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * When the Gate is open, what it holds, and who may open it by a webhook call.
   */
  spec: {
    /**
     * The longest time between two evaluations, from 30s to 1h. Less counts as 30s, more as 1h. Absent: 1m. The Gate opens and closes on time whatever the interval is.
     */
    interval?: string;
    /**
     * The state of the Gate without a request or an active rule.
     */
    default: 'opened' | 'closed';
    /**
     * How long a request lasts, such as 4h; then the Gate returns to its default. Absent: until the opposite request.
     */
    window?: string;
    /**
     * Opens or closes the Gate by a calendar.
     */
    schedule?: {
      /**
       * An IANA time zone, such as Europe/Berlin.
       */
      timezone?: string;
      /**
       * The state of the Gate while a rule is active; otherwise it is at its default.
       */
      action?: 'Open' | 'Close';
      /**
       * The calendar, of 1 to 64 rules; one active rule is enough: docs/schedules.md#rules.
       */
      rules: {
        /**
         * A name for readers.
         */
        name?: string;
        /**
         * A window of the day; all day when absent.
         */
        timeRange?: {
          /**
           * When the window begins, HH:MM.
           */
          start: string;
          /**
           * When the window ends, HH:MM. At or before the start: on the next day.
           */
          end: string;
        };
        /**
         * Days on which the window starts; every day when absent.
         */
        daysOfWeek?: ('Monday' | 'Tuesday' | 'Wednesday' | 'Thursday' | 'Friday' | 'Saturday' | 'Sunday')[];
        /**
         * Days outside which the rule is never active; always when absent.
         */
        dateRange?: {
          /**
           * The first day, YYYY-MM-DD.
           */
          start: string;
          /**
           * The last day, included.
           */
          end: string;
        };
      }[];
    };
    /**
     * Selects Flux objects and Rollouts that the Gate holds without an annotation.
     */
    selects?: {
      /**
       * Kinds to hold. Absent or empty: all governed kinds of Flux, and no Rollouts.
       */
      kinds?: (
        | 'Kustomization'
        | 'HelmRelease'
        | 'ImageUpdateAutomation'
        | 'GitRepository'
        | 'OCIRepository'
        | 'HelmRepository'
        | 'Bucket'
        | 'Rollout'
      )[];
      /**
       * Selects namespaces by their labels. Absent: the Gate's own namespace. Empty: all.
       */
      namespaceSelector?: {
        /**
         * Labels with the values that they must have, all of them.
         */
        matchLabels?: {
          [k: string]: string;
        };
        /**
         * Conditions on labels, all of which must hold.
         */
        matchExpressions?: {
          /**
           * The label.
           */
          key: string;
          /**
           * In, NotIn, Exists or DoesNotExist.
           */
          operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
          /**
           * The values, for In and NotIn.
           */
          values?: string[];
        }[];
      };
      /**
       * Selects objects by their labels. Absent: all objects.
       */
      labelSelector?: {
        /**
         * Labels with the values that they must have, all of them.
         */
        matchLabels?: {
          [k: string]: string;
        };
        /**
         * Conditions on labels, all of which must hold.
         */
        matchExpressions?: {
          /**
           * The label.
           */
          key: string;
          /**
           * In, NotIn, Exists or DoesNotExist.
           */
          operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
          /**
           * The values, for In and NotIn.
           */
          values?: string[];
        }[];
      };
    };
    /**
     * Approvals with which a Rollout may deploy a version while the Gate is closed. A request can't open such a Gate. The annotation approve.gate.fluxcd.io/for approves a version.
     */
    approvals?: {
      /**
       * Number of users who must approve.
       */
      required: number;
      /**
       * Users whose approval doesn't count. requester: the user who requested the deployment manually. author: the authors in the release's manifest; while these are unknown, no approval counts.
       */
      notBy?: ('requester' | 'author')[];
      /**
       * How long an approval counts, such as 24h. Absent: until it is withdrawn.
       */
      expireAfter?: string;
      /**
       * The ServiceAccounts whose approval counts, as namespace/name. Approvals of others don't count.
       */
      serviceAccounts?: string[];
    };
    /**
     * Lets calls from outside open and close the Gate: docs/receiver.md.
     */
    receiver?: {
      /**
       * hmac: a call is signed with a shared secret. oidc: a call has an ID token of a CI system.
       */
      type: 'hmac' | 'oidc';
      /**
       * For hmac: a Secret in the Gate's namespace with the key token.
       */
      secretRef?: {
        /**
         * The name of the Secret.
         */
        name: string;
      };
      /**
       * For oidc: which ID tokens open and close the Gate.
       */
      oidc?: {
        /**
         * The token's issuer. The server must allow it with OIDC_ISSUERS.
         */
        issuer: string;
        /**
         * The token's only audience: the URL that is called. It must end with /hook/, the Gate's namespace, / and the Gate's name.
         */
        audience: string;
        /**
         * Claims that the token must have, with their values. One of them must identify the pipeline's owner: sub, repository, repository_id, repository_owner, repository_owner_id, project_id, project_path, namespace_id or namespace_path.
         */
        claims: {
          [k: string]: string;
        };
      };
    };
  };
  /**
   * Whether the Gate is open, why, and what comes next.
   */
  status?: {
    /**
     * The generation of the spec that this status was computed from.
     */
    observedGeneration?: number;
    /**
     * The time of the request in force.
     */
    requestedAt?: string;
    /**
     * When the request in force ends and the Gate returns to its default.
     */
    resetToDefaultAt?: string;
    /**
     * The request in force. It is kept here because a Git sync may remove the annotation.
     */
    request?: {
      /**
       * What was requested.
       */
      action: 'open' | 'close';
      /**
       * When it was requested.
       */
      at: string;
      /**
       * The authenticated user.
       */
      by?: string;
      /**
       * The reason given.
       */
      reason?: string;
    };
    /**
     * A request for a later time.
     */
    planned?: {
      /**
       * What was requested.
       */
      action: 'open' | 'close';
      /**
       * When it takes effect.
       */
      at: string;
      /**
       * The authenticated user.
       */
      by?: string;
      /**
       * The reason given.
       */
      reason?: string;
    };
    /**
     * An opening for one version, which passes while the Gate is closed.
     */
    exception?: {
      /**
       * What was requested.
       */
      action: 'open';
      /**
       * The version, `<tag>` or `<namespace>/<rollout>:<tag>`.
       */
      for: string;
      /**
       * When it begins.
       */
      at: string;
      /**
       * When it ends.
       */
      until?: string;
      /**
       * The authenticated user.
       */
      by?: string;
      /**
       * The reason given.
       */
      reason?: string;
    };
    /**
     * The user whose request keeps the Gate open.
     */
    openedBy?: string;
    /**
     * The user whose request keeps the Gate closed.
     */
    closedBy?: string;
    /**
     * The reason of the request in force.
     */
    reason?: string;
    /**
     * When the Gate next opens or closes automatically.
     */
    nextTransition?: string;
    /**
     * Number of objects that require the Gate, open or closed.
     */
    requiredByCount?: number;
    /**
     * The first hundred objects that require the Gate, in the order of kind, namespace and name.
     */
    requiredBy?: {
      /**
       * Its kind: Rollout, or a kind of Flux.
       */
      kind: string;
      /**
       * Its namespace.
       */
      namespace: string;
      /**
       * Its name.
       */
      name: string;
    }[];
    /**
     * Number of Flux objects that require the Gate and, ten seconds after its closing, are still not suspended. Bypassed objects don't count. Absent if there are none.
     */
    notHeld?: number;
    /**
     * The first twenty of these objects, in the order of kind, namespace and name.
     */
    notHeldObjects?: {
      /**
       * Its kind.
       */
      kind: string;
      /**
       * Its namespace.
       */
      namespace: string;
      /**
       * Its name.
       */
      name: string;
      /**
       * NotMarked: the decorator has not annotated it yet. NotSuspended: annotated, and the webhook has not suspended it.
       */
      reason: string;
      /**
       * The cause.
       */
      message?: string;
    }[];
    /**
     * Number of Flux objects that no other Gate holds and that are still suspended ten seconds after the opening. If the Gate closes again now, the opening had no effect on them. Absent if there are none.
     */
    notResumed?: number;
    /**
     * The first twenty of these objects, in the order of kind, namespace and name.
     */
    notResumedObjects?: {
      /**
       * Its kind.
       */
      kind: string;
      /**
       * Its namespace.
       */
      namespace: string;
      /**
       * Its name.
       */
      name: string;
      /**
       * WaitsForApplier: the Kustomization that applies it has not applied it since. NotResumed: the webhook has not resumed it.
       */
      reason: string;
      /**
       * What it waits for.
       */
      message?: string;
    }[];
    /**
     * The approvals, with spec.approvals: a report for readers.
     */
    approvals?: {
      /**
       * Number of approvals that a version needs.
       */
      required: number;
      /**
       * Approvals of the version that was approved last, such as 1/2 for 1.2.0.
       */
      progress?: string;
      /**
       * The user who last changed spec.approvals.
       */
      changedBy?: string;
      /**
       * When it was changed.
       */
      changedAt?: string;
      /**
       * The number of these changes.
       */
      changes?: number;
      /**
       * Versions with approvals, the newest first.
       */
      versions?: {
        /**
         * The tag.
         */
        version: string;
        /**
         * Namespace and name of the version's Rollout.
         */
        rollout?: string;
        /**
         * Number of approvals that count.
         */
        count?: number;
        /**
         * Whether the approvals are enough. Absent with notBy, because each Rollout excludes its own requester and authors.
         */
        enough?: boolean;
        /**
         * The approvals, oldest first.
         */
        given: {
          /**
           * The authenticated user.
           */
          by: string;
          /**
           * When it was given.
           */
          at: string;
          /**
           * The reason given.
           */
          reason?: string;
          /**
           * When the approval expires.
           */
          expiresAt?: string;
          /**
           * Why the approval doesn't count; absent if it counts. Each Rollout excludes requester and author itself.
           */
          doesNotCount?: string;
        }[];
      }[];
    };
    /**
     * The path of webhook calls for this Gate.
     */
    webhookPath?: string;
    /**
     * Opened is True if the Gate is open, and so is Ready, for kstatus. Stalled names a field that was ignored because it does not parse. ReceiverReady is True if calls are accepted.
     */
    conditions?: {
      /**
       * When the status last changed.
       */
      lastTransitionTime: string;
      /**
       * The cause, in a sentence.
       */
      message: string;
      /**
       * The generation of the spec that the condition is about.
       */
      observedGeneration?: number;
      /**
       * The cause, in one word.
       */
      reason: string;
      /**
       * The status of the condition.
       */
      status: 'True' | 'False' | 'Unknown';
      /**
       * The type of the condition.
       */
      type: string;
    }[];
  };
}
