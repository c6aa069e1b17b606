/* Generated from manifests/crds/kuberik.com_rollouts.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Takes the tags of a Flux ImagePolicy, one version at a time, through gates into the Flux objects that name the Rollout, and lets each version bake.
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
     * The ImagePolicy that discovers releases: image.toolkit.fluxcd.io/v1, or v1beta2 where only that is served.
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
     * Pins the Rollout to this tag, even one that was not discovered. Letters, digits, _, . and - only.
     */
    wantedVersion?: string;
    /**
     * The version that already runs when the Rollout is created: its history begins with this tag, without a bake. Closed Gates hold it. So do RolloutGates, with their lists and approvals, unless gateFirstDeployment is false, and until a user requests a version, which comes after it. Upstream Rollouts, ages, budgets and bakes never hold it. It can be set only when the Rollout is created. Later it may be removed; while there is no history it can't be added or changed, and gateFirstDeployment can't become false beside it. Ignored once there is a history. See docs/take-over.md.
     */
    initialVersion?: string;
    /**
     * How many deployments the history keeps, at least 10 and at most 200. With onFailure: Rollback it also keeps those back to the last that succeeded.
     */
    versionHistoryLimit?: number;
    /**
     * How many days a release is kept after its discovery. Releases are dropped only when a deployment makes the history exceed its limit, and never one that the history has.
     */
    availableReleasesRetentionDays?: number;
    /**
     * How many of the newest releases are kept however old they are. In all, at most 1000 releases and 256 KiB are kept.
     */
    availableReleasesMinCount?: number;
    /**
     * The shortest time between two new releases; after it, the newest release is taken.
     */
    releaseUpdateInterval?: string;
    /**
     * How long a release has to be known here (availableReleases[].firstSeen) before it is deployed automatically, also as the first one. The publisher's own date doesn't count. A manual deployment doesn't wait.
     */
    minimumReleaseAge?: string;
    /**
     * How long a version bakes once it is applied and healthy. Without it a bake ends as it starts.
     */
    bakeTime?: string;
    /**
     * The longest time from a deployment, or its retry, to the start of its bake, and from the planned end of the bake until every HealthCheck is Healthy. A deployment that takes longer has failed.
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
     * Whether RolloutGates hold the first deployment, and initialVersion, as they hold every other. When absent they do, unless the installation follows the Go controller (LIKE_KUBERIK).
     */
    gateFirstDeployment?: boolean;
    /**
     * Gates that must all be open before any version is deployed. Gates that select the Rollout count as well. One that doesn't exist counts as closed: docs/gates.md#a-gate-that-does-not-exist.
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
     * Upstream Rollouts: a version is deployed automatically only once each of them has it Succeeded. A manual deployment does not wait. See docs/promotion.md#in-order-specafter.
     */
    after?: {
      /**
       * Name of the Rollout. If it doesn't exist, every version waits.
       */
      name: string;
      /**
       * The Rollout's own when absent. Another namespace has to allow it: docs/promotion.md#in-other-namespaces.
       */
      namespace?: string;
      /**
       * How long the version has to have Succeeded there.
       */
      bakedFor?: string;
      /**
       * What makes a version the same in both, by default its tag. digest: the same manifest digest, whatever the tags. revision: the same digest or org.opencontainers.image.revision, which anyone who pushes an image can write, so it needs TRUST_PUBLISHERS=true.
       */
      match?: 'tag' | 'digest' | 'revision';
    }[];
    /**
     * What follows a failed version. Continue: the next version may come. Hold: automation stops until retry, unblock-failed or a manual deployment. Rollback: the last version that succeeded is deployed again, once. The default is the installation's (ON_FAILURE).
     */
    onFailure?: 'Continue' | 'Hold' | 'Rollback';
    /**
     * Limits of rollbacks, for onFailure: Rollback.
     */
    rollback?: {
      /**
       * A release that cannot be undone. It is never rolled back, and nothing is rolled back past it.
       */
      barrier?: string;
    };
    /**
     * A ConfigMap to keep with the deployed tag, version, revision and digest: docs/rollouts.md#a-configmap-for-substitutefrom.
     */
    releaseConfigMap?: {
      /**
       * The name of the ConfigMap.
       */
      name: string;
    };
    /**
     * Git is the source of truth: an ImagePolicy selects exactly the deployed tag, for an ImageUpdateAutomation to commit. The Rollout sets no field of Flux objects itself. See docs/write-back.md.
     */
    writeBack?: {
      /**
       * The name of that ImagePolicy, not that of releasesImagePolicy. The Rollout creates it in its own namespace.
       */
      imagePolicy: string;
    };
    /**
     * A repository that each release is copied to, with its signatures and SBOMs. See docs/promotion.md#spectargetrepository.
     */
    targetRepository?: {
      /**
       * Host and path, such as oci://registry.example/prod/app.
       */
      url: string;
      /**
       * A Secret of type kubernetes.io/dockerconfigjson in the Rollout's namespace, with the right to pull and push there.
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
       * Whether the registry speaks plain HTTP. False when absent.
       */
      insecure?: boolean;
      /**
       * BeforeDeployment: a deployment waits until its release is there. AfterBake: only what has baked is copied. BeforeDeployment when absent.
       */
      when?: 'BeforeDeployment' | 'AfterBake';
      /**
       * Whether a tag may be moved that is there with another digest. False when absent.
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
     * Counts the changes of this status, one by one. A write computed from an older status is refused. For users and dashboards the webhook counts.
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
     * What it requests from RolloutBudgets: docs/budgets.md. Absent while nothing could be deployed.
     */
    slotRequest?: {
      /**
       * The status.revision in which the request was made. A new request is for another slot.
       */
      id: number;
      /**
       * When it was made.
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
       * The budgets it requests a slot from now, as kind/name; several are requested one after the other.
       */
      budgets?: string[];
      /**
       * Nothing is requested until then: one budget had granted a slot, and another had none.
       */
      pausedUntil?: string;
    };
    /**
     * The tag that runs: the newest deployment that every bound object has applied; where nothing is bound, the newest. What ran before the Rollout counts as applied. Absent while nothing runs. With LIKE_KUBERIK the newest tag of the history.
     */
    currentVersion?: string;
    /**
     * The tag of history[0] while not every bound object has applied it, also when it has failed.
     */
    rollingOutVersion?: string;
    /**
     * The tag that waits, for gates or for the version before it.
     */
    pendingVersion?: string;
    /**
     * Deployments, newest first. Append-only: docs/rollouts.md#what-may-become-of-history.
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
         * When this Rollout discovered the release, by its own clock; again from the start when the tag is moved to another image. A clock that is set back makes a release wait longer, never shorter.
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
       * The deploy-message, or how the deployment came about, such as Automatic deployment. Of a cancelled one, what cancelled it.
       */
      message?: string;
      /**
       * How the deployment came about: first Automatic, Manual, Rollback, InitialVersion or Adopted, then those that apply of ForceDeploy, GateBypass and FailedBakeUnblock. Absent on deployments of older versions of rollout-hooks.
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
       * Who, as clients of the Go controller read it. The authenticated user is in requestedBy.
       */
      triggeredBy?: {
        /**
         * User for a manual deployment with a deploy-user, else System.
         */
        kind: 'User' | 'System';
        /**
         * The deploy-user, else rollout-controller.
         */
        name: string;
      };
      /**
       * The failed version that this rollback replaced.
       */
      rolledBackFrom?: string;
      /**
       * The authenticated user who requested a manual deployment: who set the wantedVersion that was deployed, else who set force-deploy.
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
         * Who opened or approved it; absent for a Gate of another namespace.
         */
        by?: string;
        /**
         * The reason given; absent for a Gate of another namespace.
         */
        reason?: string;
        /**
         * When.
         */
        at: string;
      }[];
      /**
       * The user who bypassed closed Gates for this deployment, and why. Absent where all of them were open.
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
       * When its bake began, rounded up to a second.
       */
      bakeStartTime?: string;
      /**
       * When its bake ended; without bake settings, when the deployment was seen to be applied.
       */
      bakeEndTime?: string;
      /**
       * When it was last retried. Health from before doesn't count.
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
         * Its message.
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
         * Its lastErrorTime, also one that a reset has removed since: its reporter may write it again.
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
       * When this Rollout discovered the release, by its own clock; again from the start when the tag is moved to another image. A clock that is set back makes a release wait longer, never shorter.
       */
      firstSeen?: string;
    }[];
    /**
     * How many releases are available.
     */
    availableReleasesCount?: number;
    /**
     * When a release was last taken; kept where releaseUpdateInterval is set.
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
       * When this Rollout discovered the release, by its own clock; again from the start when the tag is moved to another image. A clock that is set back makes a release wait longer, never shorter.
       */
      firstSeen?: string;
    }[];
    /**
     * The candidates that no RolloutGate's list excludes, newest first. A RolloutGate that is not passing excludes nothing here.
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
       * When this Rollout discovered the release, by its own clock; again from the start when the tag is moved to another image. A clock that is set back makes a release wait longer, never shorter.
       */
      firstSeen?: string;
    }[];
    /**
     * Releases that a RolloutGate rejects.
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
     * Everything that keeps the waiting version from being deployed, the first first; empty where nothing does. The conditions have the same in sentences. At most 50: the condition StatusShortened reports how many more there are.
     */
    blockers?: {
      /**
       * Problem is one of the Rollout itself (see Ready). Bake and Failure are those of the version before. Upstream is a Rollout of spec.after.
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
       * The reason of the condition that has the sentence, such as GateClosed; ReleaseRejected where a RolloutGate rejects the requested version.
       */
      reason: string;
      /**
       * The version that it holds; absent where it holds every version.
       */
      version?: string;
      /**
       * The object that holds it; absent where that is no object, such as a bake.
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
     * The Gates of spec.gates, and whether each has existed since this Rollout names it. One that never has counts as closed, and its reference may be removed. Only Metacontroller writes this.
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
     * Every RolloutGate of this Rollout; of more than 50, those that block first. Then the upstream Rollouts of spec.after, the budgets that it waits for, and at most 20 closed Gates: those that the waiting version waits for; where none waits, those that the Rollout names or that select it.
     */
    gates?: {
      /**
       * What it is: Gate, Rollout, RolloutBudget or ClusterRolloutBudget; absent for a RolloutGate.
       */
      kind?: string;
      /**
       * The RolloutGate; namespace/name of a Gate; after/name or after/namespace/name of an upstream Rollout; budget/name or clusterbudget/name of a budget.
       */
      name: string;
      /**
       * spec.passing of a RolloutGate; true for an upstream Rollout and a budget, false for a closed Gate.
       */
      passing?: boolean;
      /**
       * The list of a RolloutGate; left out while it is not passing; of more than 50 versions the candidates and then the last ones. With spec.approvals, the approved candidates that are on its list, at most 50, empty where none is. Of an upstream Rollout the candidates that it lets through, newest first, at most 50; left out while there is no candidate.
       */
      allowedVersions?: string[];
      /**
       * Gate is passing, Gate is not passing, Gate does not allow any release candidate, or Gate bypassed for version <tag>. With spec.approvals also how many the waiting version has, by whom, and how to give one. Of an upstream Rollout also what the newest candidate waits for. Of a closed Gate why it is closed.
       */
      message?: string;
      /**
       * True while a bypass of it counts.
       */
      bypassGates?: boolean;
    }[];
    /**
     * The OCI artifact type of the latest image.
     */
    artifactType?: string;
    /**
     * The annotation org.opencontainers.image.source of the latest image.
     */
    source?: string;
    /**
     * The annotation org.opencontainers.image.title of the latest image.
     */
    title?: string;
    /**
     * The annotation org.opencontainers.image.description of the latest image.
     */
    description?: string;
  };
}
