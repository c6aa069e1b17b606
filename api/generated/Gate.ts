/* Generated from manifests/crds/gating.toolkit.fluxcd.io_gates.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * A Gate holds back the Flux objects and Rollouts that require it while it is closed.
 */
export interface Gate {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * When the gate is open, what it holds, and who may open it by a webhook call.
   */
  spec: {
    /**
     * The longest time between two evaluations, one second to an hour; one minute when absent. The edges of windows are exact regardless.
     */
    interval?: string;
    /**
     * What the gate is while no request and no rule says otherwise.
     */
    default: 'opened' | 'closed';
    /**
     * How long a request holds before the gate goes back to its default. Absent, until the opposite request.
     */
    window?: string;
    /**
     * Opens or closes the gate on a calendar.
     */
    schedule?: {
      /**
       * IANA time zone.
       */
      timezone?: string;
      /**
       * What the gate is while a rule is active; otherwise it is at its default.
       */
      action?: 'Open' | 'Close';
      /**
       * The calendar, of 1 to 64 rules; one active rule is enough: docs/schedules.md#rules.
       */
      rules: {
        /**
         * A name for people.
         */
        name?: string;
        /**
         * A window of the day; all day when absent.
         */
        timeRange?: {
          /**
           * When it begins, HH:MM.
           */
          start: string;
          /**
           * When it ends, HH:MM. At or before the start: on the next day.
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
     * The gate holds every Flux object, or Rollout, that matches, with nothing added to the objects.
     */
    selects?: {
      /**
       * Kinds to hold. Absent or empty, all governed kinds of Flux, and no Rollouts.
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
       * By the labels of the Namespace. Absent, the gate's own namespace; empty, all.
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
           * For In and NotIn.
           */
          values?: string[];
        }[];
      };
      /**
       * By the labels of the objects; all objects when absent.
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
           * For In and NotIn.
           */
          values?: string[];
        }[];
      };
    };
    /**
     * While the gate is closed, a version of a Rollout that requires it is let through with this many approvals, and no request opens the gate. It is approved with the annotation approve.gate.fluxcd.io/for.
     */
    approvals?: {
      /**
       * By how many people.
       */
      required: number;
      /**
       * Whose approval doesn't count: requester, the user who requested the deployment manually; author, whom the release's manifest names. While its authors are not known, none counts.
       */
      notBy?: ('requester' | 'author')[];
      /**
       * How long an approval counts, from its own time; until it is withdrawn when absent.
       */
      expireAfter?: string;
      /**
       * The ServiceAccounts whose approval counts, as namespace/name. No other ServiceAccount's counts.
       */
      serviceAccounts?: string[];
    };
    /**
     * Lets a webhook call open and close the gate.
     */
    receiver?: {
      /**
       * hmac: a call is signed with a shared secret. oidc: it has an ID token, as CI systems issue them.
       */
      type: 'hmac' | 'oidc';
      /**
       * For hmac: a Secret in the gate's namespace with the key token.
       */
      secretRef?: {
        /**
         * The name of the Secret.
         */
        name: string;
      };
      /**
       * For oidc: which ID tokens open and close the gate.
       */
      oidc?: {
        /**
         * The token's issuer. The server must allow it with OIDC_ISSUERS.
         */
        issuer: string;
        /**
         * The token's only audience: the URL that is called. It must end with /hook/, the gate's namespace, / and the gate's name.
         */
        audience: string;
        /**
         * Claims that the token must have, with their values. One of them must say whose pipeline it is: sub, repository, repository_id, repository_owner, repository_owner_id, project_id, project_path, namespace_id or namespace_path.
         */
        claims: {
          [k: string]: string;
        };
      };
    };
  };
  /**
   * Whether the gate is open, why, and what comes next.
   */
  status?: {
    /**
     * The generation of the spec that this status is about.
     */
    observedGeneration?: number;
    /**
     * The time of the request in force.
     */
    requestedAt?: string;
    /**
     * When the request in force ends and the gate goes back to its default.
     */
    resetToDefaultAt?: string;
    /**
     * The request in force, kept because a Git sync may strip the annotation.
     */
    request?: {
      /**
       * What was requested.
       */
      action: 'open' | 'close';
      /**
       * When.
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
      /**
       * The one version the opening is for.
       */
      for?: string;
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
      /**
       * The one version the opening is for.
       */
      for?: string;
    };
    /**
     * The user whose request keeps it open.
     */
    openedBy?: string;
    /**
     * The user whose request keeps it closed.
     */
    closedBy?: string;
    /**
     * That request's reason.
     */
    reason?: string;
    /**
     * When the gate next changes by itself.
     */
    nextTransition?: string;
    /**
     * Number of objects that require the gate, open or closed.
     */
    held?: number;
    /**
     * The first hundred of them, by kind, namespace and name.
     */
    heldObjects?: {
      /**
       * Rollout or a kind of Flux.
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
     * Number of Flux objects that require the gate and, ten seconds after its closing, are still not suspended. Bypassed objects don't count. Absent if there are none.
     */
    notHeld?: number;
    /**
     * The first twenty of them, by kind, namespace and name.
     */
    notHeldObjects?: {
      /**
       * A kind of Flux.
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
     * Number of Flux objects that are still suspended ten seconds after the opening and that no other gate holds. Where the gate closes again before they run, its opening was unused. Absent if there are none.
     */
    notResumed?: number;
    /**
     * The first twenty of them, by kind, namespace and name.
     */
    notResumedObjects?: {
      /**
       * A kind of Flux.
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
     * The approvals, where spec.approvals is set: a report, from which nothing is decided.
     */
    approvals?: {
      /**
       * How many a version needs.
       */
      required: number;
      /**
       * Of the version approved last, such as 1/2 for 1.2.0.
       */
      progress?: string;
      /**
       * Who last changed spec.approvals.
       */
      changedBy?: string;
      /**
       * When that was.
       */
      changedAt?: string;
      /**
       * How many such changes there have been.
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
         * Namespace and name of its Rollout.
         */
        rollout?: string;
        /**
         * How many of them count.
         */
        count?: number;
        /**
         * Whether these are enough.
         */
        enough?: boolean;
        /**
         * The oldest first.
         */
        given: {
          /**
           * The authenticated user.
           */
          by: string;
          /**
           * When.
           */
          at: string;
          /**
           * The reason given.
           */
          reason?: string;
          /**
           * When it expires.
           */
          expiresAt?: string;
          /**
           * Why it doesn't count, if so. Each Rollout excludes requester and author itself.
           */
          doesNotCount?: string;
        }[];
      }[];
    };
    /**
     * The path that takes calls for this gate.
     */
    webhookPath?: string;
    /**
     * Opened says whether the gate is open, and so does Ready, for kstatus. Stalled names what was ignored because it does not parse. ReceiverReady says whether calls are taken.
     */
    conditions?: {
      /**
       * When the status last changed.
       */
      lastTransitionTime: string;
      /**
       * The same, in a sentence.
       */
      message: string;
      /**
       * The generation of the spec that it is about.
       */
      observedGeneration?: number;
      /**
       * Why, in one word.
       */
      reason: string;
      /**
       * Whether it is so.
       */
      status: 'True' | 'False' | 'Unknown';
      /**
       * What the condition is about.
       */
      type: string;
    }[];
  };
}
