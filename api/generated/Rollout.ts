/* Generated from manifests/crds/kuberik.com_rollouts.yaml by scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * A Rollout watches a Flux ImagePolicy, takes its tags through gates into the Flux objects that ask for them, and lets each version bake, one at a time.
 */
export interface Rollout {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: {
    /**
     * The ImagePolicy that discovers releases.
     */
    releasesImagePolicy: {
      name?: string;
      /**
       * Namespace of the ImagePolicy; the Rollout's own when absent.
       */
      namespace?: string;
    };
    /**
     * Pins the Rollout to a version. Any tag, also one that was not discovered.
     */
    wantedVersion?: string;
    versionHistoryLimit?: number;
    availableReleasesRetentionDays?: number;
    availableReleasesMinCount?: number;
    /**
     * At most one look at new releases per interval.
     */
    releaseUpdateInterval?: string;
    /**
     * How long a version bakes once it is applied and healthy.
     */
    bakeTime?: string;
    /**
     * The longest time from a deployment (or retry) to the start of its bake.
     */
    deployTimeout?: string;
    /**
     * Which HealthChecks a bake watches. Absent, or without a selector, none.
     */
    healthCheckSelector?: {
      /**
       * Short form of selector.matchLabels.
       */
      matchLabels?: {
        [k: string]: string;
      };
      selector?: {
        matchLabels?: {
          [k: string]: string;
        };
        matchExpressions?: {
          key: string;
          operator: string;
          values?: string[];
        }[];
      };
      namespaceSelector?: {
        matchLabels?: {
          [k: string]: string;
        };
        matchExpressions?: {
          key: string;
          operator: string;
          values?: string[];
        }[];
      };
    };
    /**
     * Gates that must all be open before a version is deployed.
     */
    gates?: {
      name: string;
      /**
       * The Rollout's own when absent.
       */
      namespace?: string;
    }[];
    /**
     * What a failed version does to the next one. Continue lets the next begin; Hold stops automation until unblock-failed, retry or a manual deployment. The default is the installation's.
     */
    onFailure?: 'Continue' | 'Hold';
    /**
     * A ConfigMap to keep with the deployed tag, version, revision and digest.
     */
    releaseConfigMap?: {
      name: string;
    };
  };
  status?: {
    observedGeneration?: number;
    /**
     * Counts the changes of this status; each is the one before plus one.
     */
    revision?: number;
    /**
     * Which admission request of each one-shot annotation was acted on last, by the annotation's name without its prefix.
     */
    handledRequest?: {
      [k: string]: string;
    };
    conditions?: {
      lastTransitionTime: string;
      message: string;
      observedGeneration?: number;
      reason: string;
      status: 'True' | 'False' | 'Unknown';
      type: string;
    }[];
    /**
     * The tag deployed last.
     */
    currentVersion?: string;
    /**
     * The tag that waits for gates or for the version before it.
     */
    pendingVersion?: string;
    /**
     * Deployments, newest first.
     */
    history?: {
      id?: number;
      version: {
        tag: string;
        digest?: string;
        version?: string;
        revision?: string;
        created?: string;
      };
      timestamp: string;
      /**
       * When Flux had fetched and applied this deployment in every bound object.
       */
      appliedTime?: string;
      message?: string;
      triggeredBy?: {
        kind: 'User' | 'System';
        name: string;
      };
      /**
       * The authenticated user who asked for a manual deployment.
       */
      requestedBy?: string;
      bakeStatus?: string;
      bakeStatusMessage?: string;
      bakeStartTime?: string;
      bakeEndTime?: string;
      lastRetryTimestamp?: string;
      /**
       * How long a closed gate held this deployment on its way; deployTimeout does not count it.
       */
      waitedSeconds?: number;
      /**
       * Since when a closed gate holds it.
       */
      waitingSince?: string;
      failedHealthChecks?: {
        name: string;
        namespace: string;
        message?: string;
      }[];
    }[];
    /**
     * Every release discovered and kept, in the order of discovery.
     */
    availableReleases?: {
      tag: string;
      digest?: string;
      version?: string;
      revision?: string;
      created?: string;
    }[];
    availableReleasesCount?: number;
    /**
     * When releases were looked at last, kept where releaseUpdateInterval is set.
     */
    lastReleaseUpdate?: string;
    /**
     * Releases that may follow the deployed one, newest first.
     */
    releaseCandidates?: {
      tag: string;
      digest?: string;
      version?: string;
      revision?: string;
      created?: string;
    }[];
    /**
     * The candidates that every gate allows, newest first.
     */
    gatedReleaseCandidates?: {
      tag: string;
      digest?: string;
      version?: string;
      revision?: string;
      created?: string;
    }[];
    /**
     * Releases that a gate rejects.
     */
    rejectedReleases?: {
      tag: string;
      gate: string;
      timestamp: string;
    }[];
    /**
     * Releases that wait no longer, since the ImagePolicy as it is now could not select them; the latest first, at most 20. They can be deployed by hand.
     */
    withdrawnReleases?: {
      tag: string;
      reason: string;
    }[];
    /**
     * Every RolloutGate of this Rollout and what it says.
     */
    gates?: {
      name: string;
      passing?: boolean;
      allowedVersions?: string[];
      message?: string;
      bypassGates?: boolean;
    }[];
    artifactType?: string;
    source?: string;
    title?: string;
    description?: string;
  };
}
