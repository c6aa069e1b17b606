/* Generated from manifests/crds/kuberik.com_fluxbindings.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * The state of one Flux object that names a Rollout or a Gate, or that a Gate selects: why it waits, and for which version. It is in the object's namespace and has the name <kind>-<name>. Only the hooks write it.
 */
export interface FluxBinding {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * The Rollouts and Gates that the object requires, as its decorator reports them.
   */
  spec?: {
    /**
     * The Flux object.
     */
    target: {
      /**
       * The object's group and version.
       */
      apiVersion: string;
      /**
       * Its kind.
       */
      kind: string;
      /**
       * The object's name. It is in the FluxBinding's namespace.
       */
      name: string;
      /**
       * The object's uid.
       */
      uid: string;
    };
    /**
     * The Rollout of each managed field; of a HelmRelease the Rollout that it tracks by its OCIRepository.
     */
    fields?: {
      /**
       * The Rollout.
       */
      rollout: string;
      /**
       * The substitute variable; absent for spec.ref.tag, and for a HelmRelease.
       */
      variable?: string;
    }[];
    /**
     * The Gates that the object requires.
     */
    gates?: {
      /**
       * The Gate's namespace.
       */
      namespace: string;
      /**
       * The Gate.
       */
      gate: string;
      /**
       * The Gate selects the object; the object does not name it.
       */
      selected?: boolean;
    }[];
    /**
     * Flux has never reconciled the object, which was created behind a closed Gate. A bypass of its Rollout doesn't release it.
     */
    neverReconciled?: boolean;
    /**
     * Errors in the object's annotations, a sentence each.
     */
    problems?: string[];
    /**
     * The source whose artifact a Kustomization applies, or whose chart a HelmRelease releases.
     */
    source?: {
      /**
       * The object's group and version.
       */
      apiVersion: string;
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
    };
    /**
     * The Kustomization whose next apply resumes the object after its Gates have opened.
     */
    awaits?: {
      /**
       * Its namespace.
       */
      namespace: string;
      /**
       * Its name.
       */
      name: string;
      /**
       * When the Gates opened.
       */
      since: string;
    };
    /**
     * The versions that Flux's status proves for the object's generation, or that the suspended object has.
     */
    observed?: {
      /**
       * The deployments found on the object.
       */
      deployed?: {
        /**
         * The Rollout.
         */
        rollout: string;
        /**
         * The id of the deployment in the Rollout's history.
         */
        id: number;
        /**
         * The tag.
         */
        version: string;
        /**
         * The Rollout's uid: one that was created again is another one.
         */
        uid: string;
      }[];
      /**
       * The artifact revision that an OCIRepository fetched for its current spec.
       */
      fetched?: string;
      /**
       * The revision that a Kustomization applied and found ready with its current spec; of a HelmRelease the digest of the released chart's artifact.
       */
      applied?: string;
      /**
       * Whether a Kustomization applied another revision before, with the same deployments. Then this one is newer than the deployments, even if the source has a newer one by now.
       */
      reapplied?: boolean;
    };
    /**
     * The state of the object's Rollouts and Gates, from which the status is computed. It may be 15 seconds late.
     */
    report?: {
      /**
       * The Rollouts that exist, with the newest deployment of each.
       */
      rollouts?: {
        /**
         * The Rollout.
         */
        rollout: string;
        /**
         * The id of the Rollout's newest deployment.
         */
        id?: number;
        /**
         * The tag of that deployment.
         */
        version?: string;
        /**
         * The uid of the Rollout.
         */
        uid?: string;
        /**
         * The ImagePolicy of the Rollout's spec.writeBack.
         */
        writeBack?: string;
      }[];
      /**
       * Whether each Gate is open.
       */
      gates?: {
        /**
         * The Gate's namespace.
         */
        namespace: string;
        /**
         * The Gate.
         */
        gate: string;
        /**
         * Whether the Gate is open for this object.
         */
        opened: boolean;
        /**
         * Why the Gate is open or closed.
         */
        message?: string;
        /**
         * When this state ends, if known.
         */
        until?: string;
        /**
         * The id of the closure; a bypass is valid for one closure.
         */
        closure?: string;
      }[];
      /**
       * Deployments that bypass the closed Gates.
       */
      bypassing?: {
        /**
         * The Rollout.
         */
        rollout: string;
        /**
         * The id of the deployment in the Rollout's history.
         */
        id: number;
        /**
         * The tag.
         */
        version: string;
        /**
         * The Rollout's uid: one that was created again is another one.
         */
        uid: string;
      }[];
    };
  };
  /**
   * The state of the object's managed fields and Gates.
   */
  status?: {
    /**
     * The generation of the spec that this status was computed from.
     */
    observedGeneration?: number;
    /**
     * The expected annotation rollout.kuberik.com/deployed of the object; behind a closed Gate the current one.
     */
    deployed?: string;
    /**
     * The deployments on the object in readable form, such as my-app 1.1.0 (7).
     */
    summary?: string;
    /**
     * The state of each managed field.
     */
    fields?: {
      /**
       * The Rollout.
       */
      rollout: string;
      /**
       * The substitute variable; absent for spec.ref.tag, and for a HelmRelease.
       */
      variable?: string;
      /**
       * The id of the expected deployment.
       */
      id?: number;
      /**
       * The tag of that deployment.
       */
      version?: string;
      /**
       * The uid of the Rollout.
       */
      uid?: string;
      /**
       * The ImagePolicy of the Rollout's spec.writeBack: Git sets the field.
       */
      writeBack?: string;
      /**
       * Missing: no such Rollout, or it has deployed nothing. Waiting: rolling out. Applied: Flux has fetched and applied it.
       */
      state: 'Missing' | 'Waiting' | 'Applied';
      /**
       * Why the field is Missing, or has no version.
       */
      message?: string;
    }[];
    /**
     * The source whose fetched artifact the variables follow: present if one Rollout sets variables of a Kustomization and the tag of its OCIRepository.
     */
    source?: {
      /**
       * The expected annotation rollout.kuberik.com/artifact of the object. Absent while the annotation doesn't change.
       */
      artifact?: string;
      /**
       * The expected annotation rollout.kuberik.com/awaits-artifact: the deployment that the source is fetching. The object is suspended meanwhile.
       */
      awaits?: string;
      /**
       * Why the source doesn't fetch the deployed version; the object keeps its version.
       */
      stuck?: string;
    };
    /**
     * Deployments that were proven to be fetched and applied. Kept, because a later suspension hides the proof.
     */
    applied?: {
      /**
       * The Rollout.
       */
      rollout: string;
      /**
       * The id of the deployment in the Rollout's history.
       */
      id: number;
      /**
       * The tag.
       */
      version: string;
      /**
       * The Rollout's uid: one that was created again is another one.
       */
      uid: string;
    }[];
    /**
     * Whether each Gate of the object is open.
     */
    gates?: {
      /**
       * The Gate's namespace.
       */
      namespace: string;
      /**
       * The Gate.
       */
      name: string;
      /**
       * Whether the Gate is open for this object.
       */
      opened: boolean;
      /**
       * Why the Gate is open or closed.
       */
      message?: string;
      /**
       * When this state ends, if known.
       */
      until?: string;
      /**
       * The id of the closure; a bypass is valid for one closure.
       */
      closure?: string;
    }[];
    /**
     * Deployments that may bypass the closed Gates until they have been applied: docs/gates.md#a-hotfix-for-one-frozen-application.
     */
    bypassing?: {
      /**
       * The Rollout.
       */
      rollout: string;
      /**
       * The id of the deployment in the Rollout's history.
       */
      id: number;
      /**
       * The tag.
       */
      version: string;
      /**
       * The Rollout's uid: one that was created again is another one.
       */
      uid: string;
    }[];
    /**
     * The time since which a closed Gate holds the object.
     */
    heldSince?: string;
    /**
     * The state of the awaited Kustomization.
     */
    awaits?: {
      /**
       * Its namespace.
       */
      namespace: string;
      /**
       * Its name.
       */
      name: string;
      /**
       * When the Gates opened.
       */
      since: string;
      /**
       * Requested: the applier has not applied the object since then. Failing: the applier's last attempt failed before it had applied everything. In both states the object waits. Done: the applier has applied everything since then, without the object. Deleting: the applier is being deleted. In both states the object is resumed at once. Suspended, Missing: the object is resumed after two minutes. See docs/gates.md#waiting-for-the-applier.
       */
      state: 'Requested' | 'Failing' | 'Done' | 'Deleting' | 'Suspended' | 'Missing';
      /**
       * The reason of the applier's condition Ready while it is Failing.
       */
      reason?: string;
      /**
       * The time since which the applier is in that state.
       */
      stateSince: string;
    };
    /**
     * Ready is True if every requested version is applied. Approved is True if all Gates are open.
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
