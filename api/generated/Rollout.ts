/* Generated from manifests/crds/kuberik.com_rollouts.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * A Rollout watches a Flux ImagePolicy, takes its tags through gates into the Flux objects that ask for them, and lets each version bake, one at a time.
 */
export interface Rollout {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * Where releases come from, and how they are deployed.
   */
  spec?: {
    /**
     * The ImagePolicy that discovers releases.
     */
    releasesImagePolicy: {
      /**
       * The name of the ImagePolicy.
       */
      name?: string;
      /**
       * Namespace of the ImagePolicy; the Rollout's own when absent.
       */
      namespace?: string;
    };
    /**
     * Pins the Rollout to a version. Any tag, even one that was not discovered.
     */
    wantedVersion?: string;
    /**
     * The version already running when the Rollout is created: its history begins with this tag, without a bake. Gates and RolloutGates hold it as they hold every first deployment. Ignored once there is a history.
     */
    initialVersion?: string;
    /**
     * How many deployments the history keeps, at least 10 and at most 200.
     */
    versionHistoryLimit?: number;
    /**
     * How many days a release is kept after its discovery.
     */
    availableReleasesRetentionDays?: number;
    /**
     * How many releases are kept however old they are.
     */
    availableReleasesMinCount?: number;
    /**
     * New releases are looked for at most once per interval.
     */
    releaseUpdateInterval?: string;
    /**
     * How long a release has to be known here before it is deployed automatically, counted from availableReleases[].firstSeen. A manual deployment does not wait.
     */
    minimumReleaseAge?: string;
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
      /**
       * By the labels of the HealthChecks; empty, all. It takes precedence over matchLabels.
       */
      selector?: {
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
          operator: string;
          /**
           * For In and NotIn.
           */
          values?: string[];
        }[];
      };
      /**
       * Their namespaces, by the labels of the Namespace. Absent, the Rollout's own; empty, all.
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
          operator: string;
          /**
           * For In and NotIn.
           */
          values?: string[];
        }[];
      };
    };
    /**
     * Whether RolloutGates hold the first deployment as they hold every other. They do when absent, unless the installation follows the Go controller (LIKE_KUBERIK).
     */
    gateFirstDeployment?: boolean;
    /**
     * Gates that must all be open before a version is deployed.
     */
    gates?: {
      /**
       * The Gate.
       */
      name: string;
      /**
       * The Rollout's own when absent.
       */
      namespace?: string;
    }[];
    /**
     * Rollouts that come first: a version is deployed automatically only once each of them has it Succeeded. A manual deployment does not wait.
     */
    after?: {
      /**
       * Name of the Rollout.
       */
      name: string;
      /**
       * The Rollout's own when absent. Another one has to allow it.
       */
      namespace?: string;
      /**
       * How long the version has to have Succeeded there.
       */
      bakedFor?: string;
      /**
       * What makes a version the same in both, by default its tag. digest compares the manifests' digests, whatever the tags are; revision also lets an equal org.opencontainers.image.revision pass, which whoever pushes an image may write: only where the installation trusts publishers.
       */
      match?: 'tag' | 'digest' | 'revision';
    }[];
    /**
     * What follows a failed version. Continue lets the next begin; Hold stops automation until unblock-failed, retry or a manual deployment; Rollback deploys the last version that succeeded once more, and then goes on. The default is the installation's.
     */
    onFailure?: 'Continue' | 'Hold' | 'Rollback';
    /**
     * Limits of rollbacks.
     */
    rollback?: {
      /**
       * A release that cannot be undone. It is never rolled back, and nothing is rolled back past it.
       */
      barrier?: string;
    };
    /**
     * A ConfigMap to keep with the deployed tag, version, revision and digest.
     */
    releaseConfigMap?: {
      /**
       * The name of the ConfigMap.
       */
      name: string;
    };
    /**
     * Git is the source of truth: an ImagePolicy selects exactly the deployed tag, for an ImageUpdateAutomation to commit. The Rollout sets no field of Flux objects itself.
     */
    writeBack?: {
      /**
       * The name of that ImagePolicy. The Rollout creates it in its own namespace.
       */
      imagePolicy: string;
    };
    /**
     * A repository that each release is copied to, with its signatures and SBOMs. See docs/promotion.md.
     */
    targetRepository?: {
      /**
       * Host and path, such as oci://registry.example/prod/app.
       */
      url: string;
      /**
       * A Secret of type kubernetes.io/dockerconfigjson in the Rollout's namespace, to log in with.
       */
      secretRef?: {
        /**
         * The name of the Secret.
         */
        name: string;
      };
      /**
       * A Secret in the Rollout's namespace with the registry's own certificate authority (ca.crt), a client certificate (tls.crt and tls.key), or both.
       */
      certSecretRef?: {
        /**
         * The name of the Secret.
         */
        name: string;
      };
      /**
       * Whether it speaks plain HTTP.
       */
      insecure?: boolean;
      /**
       * Whether a deployment waits until its release is there, or only what has baked is copied. BeforeDeployment when absent.
       */
      when?: 'BeforeDeployment' | 'AfterBake';
      /**
       * Whether a tag may be moved that is there with another digest.
       */
      overwrite?: boolean;
    };
  };
  /**
   * What is deployed, what could come next, and what is in its way.
   */
  status?: {
    /**
     * The generation of the spec that this status is about.
     */
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
    /**
     * Ready sums up the others: GatesPassing, ReleasesUpdated, DeploymentBlocked and more.
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
    /**
     * The last release that was copied to spec.targetRepository.
     */
    copy?: {
      /**
       * Its tag.
       */
      tag: string;
      /**
       * Where it was copied to.
       */
      url: string;
      /**
       * What the tag is there.
       */
      digest?: string;
      /**
       * How large its blobs are together.
       */
      bytes?: number;
      /**
       * How much of that was sent: the rest was there.
       */
      uploadedBytes?: number;
      /**
       * When the copy was done.
       */
      time?: string;
    };
    /**
     * The image that the ImagePolicy finds releases of.
     */
    image?: string;
    /**
     * A RolloutBudget selects this Rollout, and this is what it asks for. Absent while nothing could be deployed.
     */
    slotRequest?: {
      /**
       * The status.revision in which the request was made. Another request is another slot.
       */
      id: number;
      /**
       * Since when it asks.
       */
      since: string;
      /**
       * What it would deploy, newest first, at most 20.
       */
      versions?: {
        /**
         * The tag.
         */
        tag: string;
        /**
         * Its digest, where it is known.
         */
        digest?: string;
      }[];
      /**
       * Whom it asks now, as kind/name. Several are asked one after the other.
       */
      budgets?: string[];
      /**
       * It asks nobody until then: it had a slot of one budget, and another had none.
       */
      pausedUntil?: string;
    };
    /**
     * The tag that runs: the newest deployment that every bound object has applied, or that had nothing to be applied by.
     */
    currentVersion?: string;
    /**
     * The tag that is committed, the newest of the history, while not every bound object has applied it.
     */
    rollingOutVersion?: string;
    /**
     * The tag that waits for gates or for the version before it.
     */
    pendingVersion?: string;
    /**
     * Deployments, newest first.
     */
    history?: {
      /**
       * 1 for the first deployment, one more for each.
       */
      id?: number;
      /**
       * A release.
       */
      version: {
        /**
         * The tag of the image.
         */
        tag: string;
        /**
         * The digest of the image, where the ImagePolicy reflects it.
         */
        digest?: string;
        /**
         * The image's annotation org.opencontainers.image.version.
         */
        version?: string;
        /**
         * The image's annotation org.opencontainers.image.revision.
         */
        revision?: string;
        /**
         * The image's annotation org.opencontainers.image.created.
         */
        created?: string;
        /**
         * When this Rollout discovered the release, by its own clock.
         */
        firstSeen?: string;
      };
      /**
       * When it was deployed.
       */
      timestamp: string;
      /**
       * When Flux had fetched and applied this deployment in every bound object.
       */
      appliedTime?: string;
      /**
       * The deploy-message, or how the deployment came about.
       */
      message?: string;
      /**
       * How the deployment came about, in words: first whose decision it was, then what it got past. Absent on deployments of an older version of this software.
       */
      origin?: (
        | 'Automatic'
        | 'Manual'
        | 'Rollback'
        | 'InitialVersion'
        | 'Adopted'
        | 'ForceDeploy'
        | 'GateBypass'
        | 'FailedBakeUnblock'
      )[];
      /**
       * Who, as the Go controller has it. Who really asked is in requestedBy.
       */
      triggeredBy?: {
        /**
         * User for a manual deployment with a deploy-user.
         */
        kind: 'User' | 'System';
        /**
         * The deploy-user, else rollout-controller.
         */
        name: string;
      };
      /**
       * The failed version that this deployment replaced.
       */
      rolledBackFrom?: string;
      /**
       * The authenticated user who asked for a manual deployment.
       */
      requestedBy?: string;
      /**
       * The deploy-message. It stays when the deployment is cancelled.
       */
      reason?: string;
      /**
       * The requests that opened the Gates which this deployment passed, and the approvals that it needed; at most 20.
       */
      approvals?: {
        /**
         * Namespace and name; of a RolloutGate its name.
         */
        gate: string;
        /**
         * RolloutGate; absent for a Gate.
         */
        kind?: string;
        /**
         * Absent for a Gate of another namespace.
         */
        by?: string;
        /**
         * Absent for a Gate of another namespace.
         */
        reason?: string;
        /**
         * When.
         */
        at: string;
      }[];
      /**
       * Who let this deployment past closed Gates, and why. Absent where all of them were open.
       */
      bypass?: {
        /**
         * The authenticated user who gave the reason.
         */
        by: string;
        /**
         * When it was given.
         */
        at: string;
        /**
         * The annotation gate.fluxcd.io/bypass-reason.
         */
        reason: string;
        /**
         * Namespace and name of those that were closed, at most 10.
         */
        gates: string[];
      };
      /**
       * Deploying, InProgress, Succeeded, Failed or Cancelled.
       */
      bakeStatus?: string;
      /**
       * The same in a sentence.
       */
      bakeStatusMessage?: string;
      /**
       * When its bake began.
       */
      bakeStartTime?: string;
      /**
       * When it ended.
       */
      bakeEndTime?: string;
      /**
       * When it was last retried; health from before does not count.
       */
      lastRetryTimestamp?: string;
      /**
       * How long a closed gate held this deployment on its way; deployTimeout does not count it.
       */
      waitedSeconds?: number;
      /**
       * Since when a closed gate holds it.
       */
      waitingSince?: string;
      /**
       * The HealthChecks that failed it, or kept its bake from starting.
       */
      failedHealthChecks?: {
        /**
         * The HealthCheck.
         */
        name: string;
        /**
         * Its namespace.
         */
        namespace: string;
        /**
         * What it said.
         */
        message?: string;
      }[];
      /**
       * What each watched HealthCheck had reported when this deployment began, was retried or arrived: only what it reports since counts. Of the newest deployment alone; at most 100.
       */
      knownHealth?: {
        /**
         * The HealthCheck.
         */
        name: string;
        /**
         * Its namespace.
         */
        namespace: string;
        /**
         * Its status.
         */
        status?: string;
        /**
         * Its lastChangeTime.
         */
        lastChangeTime?: string;
        /**
         * Its lastErrorTime, also one that a reset has removed since.
         */
        lastErrorTime?: string;
      }[];
    }[];
    /**
     * Every release discovered and kept, in the order of discovery.
     *
     * Items: A release.
     */
    availableReleases?: {
      /**
       * The tag of the image.
       */
      tag: string;
      /**
       * The digest of the image, where the ImagePolicy reflects it.
       */
      digest?: string;
      /**
       * The image's annotation org.opencontainers.image.version.
       */
      version?: string;
      /**
       * The image's annotation org.opencontainers.image.revision.
       */
      revision?: string;
      /**
       * The image's annotation org.opencontainers.image.created.
       */
      created?: string;
      /**
       * When this Rollout discovered the release, by its own clock.
       */
      firstSeen?: string;
    }[];
    /**
     * How many releases are available.
     */
    availableReleasesCount?: number;
    /**
     * When releases were looked at last, kept where releaseUpdateInterval is set.
     */
    lastReleaseUpdate?: string;
    /**
     * Releases that may follow the deployed one, newest first.
     *
     * Items: A release.
     */
    releaseCandidates?: {
      /**
       * The tag of the image.
       */
      tag: string;
      /**
       * The digest of the image, where the ImagePolicy reflects it.
       */
      digest?: string;
      /**
       * The image's annotation org.opencontainers.image.version.
       */
      version?: string;
      /**
       * The image's annotation org.opencontainers.image.revision.
       */
      revision?: string;
      /**
       * The image's annotation org.opencontainers.image.created.
       */
      created?: string;
      /**
       * When this Rollout discovered the release, by its own clock.
       */
      firstSeen?: string;
    }[];
    /**
     * The candidates that every gate allows, newest first.
     *
     * Items: A release.
     */
    gatedReleaseCandidates?: {
      /**
       * The tag of the image.
       */
      tag: string;
      /**
       * The digest of the image, where the ImagePolicy reflects it.
       */
      digest?: string;
      /**
       * The image's annotation org.opencontainers.image.version.
       */
      version?: string;
      /**
       * The image's annotation org.opencontainers.image.revision.
       */
      revision?: string;
      /**
       * The image's annotation org.opencontainers.image.created.
       */
      created?: string;
      /**
       * When this Rollout discovered the release, by its own clock.
       */
      firstSeen?: string;
    }[];
    /**
     * Releases that a gate rejects.
     */
    rejectedReleases?: {
      /**
       * The release.
       */
      tag: string;
      /**
       * The RolloutGate.
       */
      gate: string;
      /**
       * Since when.
       */
      timestamp: string;
    }[];
    /**
     * Releases that were rolled back and that nobody has deployed since. They are not candidates.
     */
    rolledBackReleases?: string[];
    /**
     * Whom the manifests of releases name as their authors; read only of releases that have an approval which must not be the author's.
     */
    releaseAuthors?: {
      /**
       * The release.
       */
      tag: string;
      /**
       * The annotation org.opencontainers.image.authors, cut to 256 characters.
       */
      authors: string;
    }[];
    /**
     * Releases whose manifest says that they cannot be undone.
     */
    rollbackBarriers?: string[];
    /**
     * Releases that no longer wait: the ImagePolicy as it is now could not select them, or they were rolled back. The latest first, at most 20. They can still be deployed manually.
     */
    withdrawnReleases?: {
      /**
       * The release.
       */
      tag: string;
      /**
       * Why it is not a candidate.
       */
      reason: string;
    }[];
    /**
     * Everything that keeps a version from being deployed, the first first; empty where nothing does. At most 50: the condition StatusShortened reports how many more there are.
     */
    blockers?: {
      /**
       * What kind of thing it is.
       */
      type:
        | 'Problem'
        | 'Health'
        | 'Gate'
        | 'RolloutGate'
        | 'Approvals'
        | 'Upstream'
        | 'Bake'
        | 'Failure'
        | 'MinimumAge'
        | 'Copy'
        | 'Budget'
        | 'PinnedVersion';
      /**
       * Blocks: a person has to act. Waits: it ends by itself.
       */
      effect: 'Blocks' | 'Waits';
      /**
       * Why, in one word: that of the condition which says the same in a sentence, where there is one.
       */
      reason: string;
      /**
       * The version that it holds.
       */
      version?: string;
      /**
       * The object that holds it.
       */
      object?: {
        /**
         * Its kind.
         */
        kind: string;
        /**
         * Its namespace; absent where the kind has none.
         */
        namespace?: string;
        /**
         * Its name.
         */
        name: string;
      };
      /**
       * Since when it holds, where that is known.
       */
      since?: string;
      /**
       * When it ends by itself, where that is known.
       */
      until?: string;
      /**
       * The user who closed the gate or pinned the version. Of a Gate of another namespace it is left out.
       */
      by?: string;
      /**
       * Approvals that count.
       */
      have?: number;
      /**
       * Approvals that it takes.
       */
      need?: number;
    }[];
    /**
     * Releases that spec.minimumReleaseAge keeps from being candidates, newest first, at most 20.
     */
    youngReleases?: {
      /**
       * The release.
       */
      tag: string;
      /**
       * When it is old enough.
       */
      deployableAt: string;
    }[];
    /**
     * The Gates of spec.gates, and whether each has existed since this Rollout names it. One that never has counts as closed, and the reference may be taken back.
     */
    namedGates?: {
      /**
       * Its namespace and name.
       */
      gate: string;
      /**
       * Whether it exists or has existed.
       */
      seen: boolean;
    }[];
    /**
     * Every RolloutGate of this Rollout and what it says, the Gates that are closed, and what else lets some versions through: the Rollouts of spec.after, and budgets.
     */
    gates?: {
      /**
       * What it is: Gate, Rollout, RolloutBudget or ClusterRolloutBudget; absent for a RolloutGate.
       */
      kind?: string;
      /**
       * The RolloutGate; of a Gate, namespace and name; after/, budget/ or clusterbudget/ and the name of any other.
       */
      name: string;
      /**
       * Its spec.passing; false for a closed Gate.
       */
      passing?: boolean;
      /**
       * Its list; left out while it is not passing.
       */
      allowedVersions?: string[];
      /**
       * What it lets through.
       */
      message?: string;
      /**
       * Whether a bypass of it counts.
       */
      bypassGates?: boolean;
    }[];
    /**
     * From the annotations of the deployed image, like the three below.
     */
    artifactType?: string;
    /**
     * Where the source of the deployed image is.
     */
    source?: string;
    /**
     * The title of the deployed image.
     */
    title?: string;
    /**
     * The description of the deployed image.
     */
    description?: string;
  };
}
