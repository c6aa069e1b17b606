/* Generated from manifests/crds/kuberik.com_fluxbindings.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Derived, one per Flux object that names Rollouts or Gates: which they are, what they say now, and whether the object has it. Written by the hooks only; look here to learn why an object waits.
 */
export interface FluxBinding {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * What the object asks for.
   */
  spec?: {
    /**
     * The object.
     */
    target: {
      apiVersion: string;
      kind: string;
      name: string;
      uid: string;
    };
    /**
     * Which Rollout owns which field.
     */
    pins?: {
      rollout: string;
      /**
       * The substitute variable; absent for spec.ref.tag.
       */
      variable?: string;
    }[];
    /**
     * Gates the object requires.
     */
    gates?: {
      namespace: string;
      name: string;
      /**
       * The Gate selects the object; the object does not name it.
       */
      selected?: boolean;
    }[];
    /**
     * What is wrong with the object's annotations, a sentence each.
     */
    problems?: string[];
    /**
     * The source whose artifact a Kustomization applies.
     */
    source?: {
      apiVersion: string;
      kind: string;
      namespace: string;
      name: string;
    };
    /**
     * The Kustomization in whose next apply the object is resumed, now that its gates are open; it is asked to reconcile.
     */
    awaits?: {
      namespace: string;
      name: string;
      /**
       * When the gates opened.
       */
      since: string;
    };
    /**
     * What the object carries, once Flux's status proves it at the object's own generation, or the object is suspended.
     */
    observed?: {
      /**
       * The deployments that the object says it carries.
       */
      deployed?: {
        rollout: string;
        id: number;
        version: string;
        uid: string;
      }[];
      /**
       * The artifact revision that an OCIRepository fetched for its current spec.
       */
      fetched?: string;
      /**
       * The revision that a Kustomization applied and found ready with its current spec.
       */
      applied?: string;
    };
  };
  /**
   * What the Rollouts and Gates of the object say now.
   */
  status?: {
    /**
     * The generation of the spec that this status is about.
     */
    observedGeneration?: number;
    /**
     * What the annotation rollout.kuberik.com/deployed of the object should say.
     */
    deployed?: string;
    /**
     * The same in readable form, e.g. my-app 1.1.0 (7).
     */
    summary?: string;
    /**
     * How far each Rollout has come in this object.
     */
    pins?: {
      rollout: string;
      variable?: string;
      id?: number;
      version?: string;
      uid?: string;
      /**
       * Missing: no such Rollout, or it has deployed nothing. Waiting: on its way. Applied: Flux has fetched and applied it.
       */
      state: 'Missing' | 'Waiting' | 'Applied';
      message?: string;
    }[];
    /**
     * Deployments that were proven to be fetched and applied. Kept, because a later suspension hides the proof.
     */
    applied?: {
      rollout: string;
      id: number;
      version: string;
      uid: string;
    }[];
    /**
     * Whether each Gate of the object is open.
     */
    gates?: {
      namespace: string;
      name: string;
      opened: boolean;
      message?: string;
      until?: string;
      /**
       * Which closing it is; a bypass counts for one.
       */
      closing?: string;
    }[];
    /**
     * Since when a closed gate holds the object.
     */
    heldSince?: string;
    /**
     * What the awaited Kustomization is doing.
     */
    awaits?: {
      namespace: string;
      name: string;
      since: string;
      /**
       * Asked: it has not applied since. Failing: its last try failed before everything was applied. Both are waited for. Done: it has applied everything since, and the object was not in it. Deleting: it is being deleted. In both the object is resumed at once. Suspended, Missing: resumed after two minutes.
       */
      state: 'Asked' | 'Failing' | 'Done' | 'Deleting' | 'Suspended' | 'Missing';
      /**
       * The reason of its Ready condition while it is Failing.
       */
      reason?: string;
      stateSince: string;
    };
    /**
     * Ready says whether everything asked for is there and applied. Approved says whether all gates are open.
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
