/* Generated from manifests/crds/kuberik.com_rollouts.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Deploys the tags of a Flux ImagePolicy, one version at a time, through gates into the Flux objects that name the Rollout, and bakes each version.
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
     * Deploys this tag and stays on it, even if it was not discovered. Absent: releases are deployed automatically. Letters, digits, _, . and - only.
     */
    wantedVersion?: string;
    /**
     * The version that already runs when the Rollout is created: its history begins with this tag, without a bake. Closed Gates block it, and so do RolloutGates, unless gateFirstDeployment is false; upstream Rollouts, minimumReleaseAge, budgets and bakes don't. It can be set only when the Rollout is created, and removed later. While there is no history, gateFirstDeployment can't become false if initialVersion is set. Ignored once there is a history. See docs/adopt.md.
     */
    initialVersion?: string;
    /**
     * Number of deployments that the history keeps. Less than 10 counts as 10, more than 200 as 200. With onFailure: Rollback it also keeps the deployments back to the last that succeeded.
     */
    versionHistoryLimit?: number;
    /**
     * Days to keep a release after its creation (availableReleases[].created); one without that date is not old. Old releases, and those discovered before them, are dropped when a deployment makes the history exceed versionHistoryLimit; releases in the history never are.
     */
    availableReleasesRetentionDays?: number;
    /**
     * Number of the newest releases to keep, however old they are. At most 1000 releases, and 256 KiB, are kept in all.
     */
    availableReleasesMinCount?: number;
    /**
     * The shortest time between the discovery of two releases, such as 1h30m. Then the newest tag is added, and tags in between are skipped. Absent: each tag is added at once.
     */
    releaseUpdateInterval?: string;
    /**
     * The shortest time, such as 1h30m, from a release's discovery (availableReleases[].firstSeen) to its automatic deployment, including the first one. The publisher's own date doesn't count. A manual deployment doesn't wait. Absent: none.
     */
    minimumReleaseAge?: string;
    /**
     * How long a version bakes once it is applied and healthy, such as 10m. Absent: a bake ends at once, so a version that is healthy for a moment and then crashes has Succeeded.
     */
    bakeTime?: string;
    /**
     * The longest time, such as 30m, from a deployment or its retry to the start of its bake, and again from the planned end of the bake until every HealthCheck is Healthy. A deployment that takes longer has Failed. While a closed Gate holds the deployment, the timeout is paused. Absent: no limit.
     */
    deployTimeout?: string;
    /**
     * The HealthChecks that a bake watches. Absent, or without a selector: none.
     */
    healthCheckSelector?: {
      /**
       * Short form of selector.matchLabels.
       */
      matchLabels?: {
        [k: string]: string;
      };
      /**
       * Selects HealthChecks by their labels. Empty: all. It takes precedence over matchLabels.
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
           * The values, for In and NotIn.
           */
          values?: string[];
        }[];
      };
      /**
       * Selects the HealthChecks' namespaces by the labels of the Namespace. Absent: the Rollout's own. Empty: all. Another namespace must consent: docs/healthchecks.md#health-of-other-namespaces.
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
           * The values, for In and NotIn.
           */
          values?: string[];
        }[];
      };
    };
    /**
     * Whether RolloutGates block the first deployment, or initialVersion. Absent: true, or false if the installation has KUBERIK_COMPAT=true.
     */
    gateFirstDeployment?: boolean;
    /**
     * Gates that must all be open before any version is deployed, besides the Gates that select the Rollout. A Gate that doesn't exist counts as closed: docs/gates.md#a-gate-that-does-not-exist.
     */
    gates?: {
      /**
       * The Gate.
       */
      name: string;
      /**
       * The Gate's namespace; the Rollout's own when absent.
       */
      namespace?: string;
    }[];
    /**
     * Upstream Rollouts. A version is deployed automatically only once it has Succeeded in each of them. A manual deployment doesn't wait. See docs/promotion.md#in-order-specafter.
     */
    after?: {
      /**
       * Name of the Rollout. If it doesn't exist, every version waits.
       */
      name: string;
      /**
       * Its namespace; the Rollout's own when absent. Another namespace must consent: docs/promotion.md#in-other-namespaces.
       */
      namespace?: string;
      /**
       * How long ago the version must have Succeeded there, such as 1h. Absent: at any time.
       */
      bakedFor?: string;
      /**
       * How to find the same version there. tag (the default): by its tag. digest: by its manifest digest. revision: by its digest or its org.opencontainers.image.revision, which every user who pushes an image can write, so it needs TRUST_PUBLISHERS=true.
       */
      match?: 'tag' | 'digest' | 'revision';
    }[];
    /**
     * What follows a failed version. Continue: the next version may be deployed. Hold: automation stops until retry, unblock-failed or a manual deployment. Rollback: the last version that Succeeded is deployed again, once. Absent: the installation's setting (ON_FAILURE).
     */
    onFailure?: 'Continue' | 'Hold' | 'Rollback';
    /**
     * Limits for onFailure: Rollback.
     */
    rollback?: {
      /**
       * The tag of a release that can't be undone: no rollback goes from it, or from a later release, to an earlier one.
       */
      barrier?: string;
    };
    /**
     * A ConfigMap that the Rollout keeps up to date with the deployed tag, version, revision and digest: docs/rollouts.md#a-configmap-for-substitutefrom.
     */
    releaseConfigMap?: {
      /**
       * The name of the ConfigMap.
       */
      name: string;
    };
    /**
     * Makes Git the source of truth: the Rollout keeps an ImagePolicy that selects exactly the deployed tag, for an ImageUpdateAutomation to commit, and sets no field of Flux objects itself. See docs/write-back.md.
     */
    writeBack?: {
      /**
       * The name of the ImagePolicy to create, other than that of releasesImagePolicy. It is in the Rollout's namespace.
       */
      imagePolicy: string;
    };
    /**
     * The repository to which each release is copied, with its signatures and SBOMs. See docs/promotion.md#spectargetrepository.
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
       * Whether the registry uses plain HTTP. Absent: false.
       */
      insecure?: boolean;
      /**
       * BeforeDeployment (the default): a deployment waits until its release is copied. AfterBake: a release is copied after its bake.
       */
      when?: 'BeforeDeployment' | 'AfterBake';
      /**
       * Whether to move the release's tag if the target has it with another digest. Absent: false.
       */
      overwrite?: boolean;
    };
  };
  /**
   * The deployed version, the next one, and everything that blocks it.
   */
  status?: {
    /**
     * The generation of the spec that this status was computed from.
     */
    observedGeneration?: number;
    /**
     * The number of changes of this status. A write that was computed from an older status is rejected. The webhook sets it for users and dashboards.
     */
    revision?: number;
    /**
     * For each one-shot annotation, by its name without the prefix, the last admission request that was handled.
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
    /**
     * The last release that was copied to spec.targetRepository.
     */
    copy?: {
      /**
       * The tag of the release.
       */
      tag: string;
      /**
       * The repository that the release was copied to.
       */
      url: string;
      /**
       * The digest of the tag in that repository.
       */
      digest?: string;
      /**
       * The size of all blobs.
       */
      bytes?: number;
      /**
       * The bytes that were sent; the target already had the rest.
       */
      uploadedBytes?: number;
      /**
       * When the copy finished.
       */
      time?: string;
      /**
       * The Rollout's annotation reconcile.fluxcd.io/requestedAt at the copy. Another value requests another copy.
       */
      requestedAt?: string;
    };
    /**
     * The image whose tags the ImagePolicy selects.
     */
    image?: string;
    /**
     * The request for slots of RolloutBudgets: docs/budgets.md. Absent while nothing could be deployed.
     */
    slotRequest?: {
      /**
       * The status.revision in which the request was made. A new request is for another slot.
       */
      id: number;
      /**
       * When the request was made.
       */
      since: string;
      /**
       * The versions that the Rollout could deploy, newest first, at most 20.
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
       * The budgets from which a slot is requested now, as kind/name. Slots of several budgets are requested one after the other.
       */
      budgets?: string[];
      /**
       * No slot is requested until then, because one budget had granted a slot and another had none.
       */
      pausedUntil?: string;
    };
    /**
     * The tag that runs: that of the newest deployment that every bound object has applied, or without bound objects, of the newest deployment. An adopted deployment that doesn't bake counts as applied. With KUBERIK_COMPAT: the newest tag of the history.
     */
    currentVersion?: string;
    /**
     * The tag of history[0] until Flux has applied it to every bound object, also if it has failed.
     */
    rollingOutVersion?: string;
    /**
     * The tag that waits for Gates, RolloutGates or the previous version.
     */
    pendingVersion?: string;
    /**
     * Deployments, newest first. Append-only: docs/rollouts.md#allowed-changes-of-the-history.
     */
    history?: {
      /**
       * 1 for the first deployment, and one more for each further one.
       */
      id?: number;
      /**
       * The deployed release.
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
         * When this Rollout discovered the release, or a moved tag's new image. A clock that is set back makes a release wait longer, never shorter.
         */
        firstSeen?: string;
      };
      /**
       * The image from whose tags the ImagePolicy selected the version, without tag and digest. No automatic rollback goes to a deployment of another image. Absent if it was unknown.
       */
      image?: string;
      /**
       * When the version was deployed.
       */
      timestamp: string;
      /**
       * When Flux had fetched and applied this deployment in every bound object.
       */
      appliedTime?: string;
      /**
       * The deploy-message, or the cause, such as Automatic deployment. For a cancelled deployment: the cause of the cancellation.
       */
      message?: string;
      /**
       * The cause of the deployment: first Automatic, Manual, Rollback, InitialVersion or Adopted, then those of ForceDeploy, GateBypass and FailedBakeUnblock that apply. Absent on deployments of other writers, such as the Go controller.
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
       * The user, in the form of the Go controller. requestedBy has the authenticated user.
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
       * The authenticated user who requested a manual deployment by wantedVersion or force-deploy, or wrote the deployment into the status.
       */
      requestedBy?: string;
      /**
       * The deploy-message. It stays when the deployment is cancelled.
       */
      reason?: string;
      /**
       * The requests that opened Gates for this deployment, its approvals, and the users who listed its version in allowedVersions; at most 20.
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
         * The user who opened the Gate, or approved or listed the version; absent for a Gate of another namespace.
         */
        by?: string;
        /**
         * The reason given; absent for a Gate of another namespace.
         */
        reason?: string;
        /**
         * When the Gate was opened, or the version approved or listed.
         */
        at: string;
      }[];
      /**
       * The user who bypassed closed Gates for this deployment, and the reason. Absent if all Gates were open.
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
         * Namespace and name of the closed Gates, at most 10.
         */
        gates: string[];
      };
      /**
       * Deploying, InProgress, Succeeded, Failed or Cancelled.
       */
      bakeStatus?: string;
      /**
       * The bake status in a sentence.
       */
      bakeStatusMessage?: string;
      /**
       * When the bake began, rounded up to a second.
       */
      bakeStartTime?: string;
      /**
       * When the bake ended; without bake settings, when Flux had applied the deployment.
       */
      bakeEndTime?: string;
      /**
       * When the deployment was last retried. Health from before doesn't count.
       */
      lastRetryTimestamp?: string;
      /**
       * Seconds for which a closed Gate has held this deployment before its bake or after its bakeTime. deployTimeout doesn't count them. Counted anew when the bake begins.
       */
      waitedSeconds?: number;
      /**
       * Seconds by which deployTimeout is longer, because it ended more than a minute before its evaluation: in an outage, or when it was set. The reports about objects and health have a minute to follow. Counted anew when the bake begins.
       */
      graceSeconds?: number;
      /**
       * The time since which a closed Gate holds the deployment.
       */
      waitingSince?: string;
      /**
       * The HealthChecks that failed the deployment, or kept its bake from starting.
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
         * The HealthCheck's message.
         */
        message?: string;
      }[];
      /**
       * The report of each watched HealthCheck when this deployment began, was retried or was applied. Only later reports count. HealthChecks that are watched only since then are added when the bake begins, without a report. Only the newest deployment has this; at most 100.
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
         * The HealthCheck's status.
         */
        status?: string;
        /**
         * The HealthCheck's lastChangeTime.
         */
        lastChangeTime?: string;
        /**
         * The HealthCheck's lastErrorTime, even if a reset has removed it: its reporter may write it again.
         */
        lastErrorTime?: string;
      }[];
    }[];
    /**
     * Every release discovered and kept, in the order of discovery.
     *
     * Items: The deployed release.
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
       * When this Rollout discovered the release, or a moved tag's new image. A clock that is set back makes a release wait longer, never shorter.
       */
      firstSeen?: string;
    }[];
    /**
     * Number of available releases.
     */
    availableReleasesCount?: number;
    /**
     * When a release was last added; only with releaseUpdateInterval.
     */
    lastReleaseUpdate?: string;
    /**
     * Releases newer than the deployed one, newest first.
     *
     * Items: The deployed release.
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
       * When this Rollout discovered the release, or a moved tag's new image. A clock that is set back makes a release wait longer, never shorter.
       */
      firstSeen?: string;
    }[];
    /**
     * The candidates that no RolloutGate's list excludes, newest first. A RolloutGate that is not passing excludes nothing here.
     *
     * Items: The deployed release.
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
       * When this Rollout discovered the release, or a moved tag's new image. A clock that is set back makes a release wait longer, never shorter.
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
       * The time since which the release is rejected.
       */
      timestamp: string;
    }[];
    /**
     * Releases that were rolled back and not deployed again. They are not candidates.
     */
    rolledBackReleases?: string[];
    /**
     * Authors of releases, from their manifests, whose approvals don't count (notBy).
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
     * Releases whose manifest marks them as rollback barriers.
     */
    rollbackBarriers?: string[];
    /**
     * Releases that no longer wait, because the current ImagePolicy can't select them or they were rolled back. The latest first, at most 20. They can still be deployed manually.
     */
    withdrawnReleases?: {
      /**
       * The release.
       */
      tag: string;
      /**
       * Why the release is not a candidate.
       */
      reason: string;
    }[];
    /**
     * Everything that blocks the waiting version, and problems of other versions, such as an invalid tag. The conditions have the same in sentences. At most 50; the condition StatusShortened has the number of the others.
     */
    blockers?: {
      /**
       * Problem: of the Rollout itself, or a missing ImagePolicy (see Ready). Bake, Failure: of the previous version. Upstream: a Rollout of spec.after.
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
       * Blocks: a user has to act. Waits: the wait ends automatically.
       */
      effect: 'Blocks' | 'Waits';
      /**
       * The reason of the corresponding condition, such as GateClosed; ReleaseRejected if a RolloutGate rejects the requested version; ImagePolicyNotFound if there is no ImagePolicy.
       */
      reason: string;
      /**
       * The version that is blocked; absent if every version is.
       */
      version?: string;
      /**
       * The object that blocks the version; absent if there is none, as for a bake.
       */
      object?: {
        /**
         * Its kind.
         */
        kind: string;
        /**
         * Its namespace; absent for a cluster-scoped kind.
         */
        namespace?: string;
        /**
         * Its name.
         */
        name: string;
      };
      /**
       * The time since which the version is blocked, if known.
       */
      since?: string;
      /**
       * When the block ends automatically, if known.
       */
      until?: string;
      /**
       * The user who closed the Gate or pinned the version; absent for a Gate of another namespace.
       */
      by?: string;
      /**
       * Approvals that count.
       */
      have?: number;
      /**
       * Approvals that are required.
       */
      need?: number;
    }[];
    /**
     * Releases that are too young to be candidates (spec.minimumReleaseAge), newest first, at most 20.
     */
    youngReleases?: {
      /**
       * The release.
       */
      tag: string;
      /**
       * When the release is old enough.
       */
      deployableAt: string;
    }[];
    /**
     * The Gates of spec.gates, and whether each has existed while this Rollout named it. A Gate that never existed counts as closed, but may be removed from spec.gates. Only Metacontroller writes this.
     */
    namedGates?: {
      /**
       * The Gate's namespace and name.
       */
      gate: string;
      /**
       * Whether the Gate exists or has existed.
       */
      seen: boolean;
    }[];
    /**
     * The RolloutGates of this Rollout, at most 50 with the blocking ones first; then the upstream Rollouts of spec.after, the budgets that it waits for, and at most 20 closed Gates that hold the waiting version or, without one, the Rollout.
     */
    gates?: {
      /**
       * Gate, Rollout, RolloutBudget or ClusterRolloutBudget; absent for a RolloutGate.
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
       * For a RolloutGate, its list, absent while it is not passing; of more than 50 versions the candidates, then the last ones. With spec.approvals, the approved candidates on that list, at most 50. For an upstream Rollout, the candidates that have Succeeded there, newest first, at most 50.
       */
      allowedVersions?: string[];
      /**
       * Gate is passing, Gate is not passing, Gate does not allow any release candidate, or Gate bypassed for version <tag>. With spec.approvals, also the approvals of the waiting version and how to give one. For an upstream Rollout, also the cause of the wait. For a closed Gate, the cause of the closing.
       */
      message?: string;
      /**
       * True while a bypass of this gate is in effect.
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
