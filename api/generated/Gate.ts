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
   * When the gate is open, what it holds, and who may open it by a signed call.
   */
  spec: {
    /**
     * The longest time between two evaluations; the edges of windows are exact regardless.
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
      rules: {
        name?: string;
        timeRange?: {
          start: string;
          end: string;
        };
        daysOfWeek?: ('Monday' | 'Tuesday' | 'Wednesday' | 'Thursday' | 'Friday' | 'Saturday' | 'Sunday')[];
        dateRange?: {
          start: string;
          end: string;
        };
      }[];
    };
    /**
     * The gate holds every Flux object that matches, with nothing added to the objects.
     */
    selects?: {
      /**
       * Kinds to hold; all governed kinds when absent.
       */
      kinds?: (
        | 'Kustomization'
        | 'HelmRelease'
        | 'ImageUpdateAutomation'
        | 'GitRepository'
        | 'OCIRepository'
        | 'HelmRepository'
        | 'Bucket'
      )[];
      /**
       * For namespaces, absent means the gate's own and empty means all; for objects, both mean all.
       */
      namespaceSelector?: {
        matchLabels?: {
          [k: string]: string;
        };
        matchExpressions?: {
          key: string;
          operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
          values?: string[];
        }[];
      };
      /**
       * For namespaces, absent means the gate's own and empty means all; for objects, both mean all.
       */
      labelSelector?: {
        matchLabels?: {
          [k: string]: string;
        };
        matchExpressions?: {
          key: string;
          operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
          values?: string[];
        }[];
      };
    };
    /**
     * Lets a signed webhook call open and close the gate.
     */
    receiver?: {
      type: 'hmac';
      secretRef: {
        name: string;
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
     * The request that counts, kept because a Git sync may strip the annotation.
     */
    request?: {
      action: 'open' | 'close';
      at: string;
      by?: string;
      reason?: string;
      /**
       * The one version the opening is for.
       */
      for?: string;
    };
    /**
     * A request whose time has not come.
     */
    planned?: {
      action: 'open' | 'close';
      at: string;
      by?: string;
      reason?: string;
      for?: string;
    };
    /**
     * Who made the request in force, if it opens the gate.
     */
    openedBy?: string;
    /**
     * Who made the request in force, if it closes the gate.
     */
    closedBy?: string;
    /**
     * The reason given with the request in force.
     */
    reason?: string;
    /**
     * When the gate next opens or closes unless somebody asks for something else.
     */
    nextTransition?: string;
    /**
     * How many objects require the gate, whether it is open or closed.
     */
    held?: number;
    /**
     * Where the receiver takes signed calls for this gate.
     */
    webhookPath?: string;
    /**
     * Opened says whether the gate is open. Stalled names what was ignored because it does not parse. ReceiverReady says whether signed calls are taken.
     */
    conditions?: {
      lastTransitionTime: string;
      message: string;
      observedGeneration?: number;
      reason: string;
      status: 'True' | 'False' | 'Unknown';
      type: string;
    }[];
  };
}
