/**
 * The inputs of a Rollout's plan: all that was read for it, by hooks/rollout; its configuration; and the part
 * of its status from which a plan starts.
 */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { Condition, EpochMs } from '../../../api/kubernetes.ts';
import type { ReleaseMetadata, Settings } from '../../../api/ports.ts';
import type {
  FluxBinding,
  Gate,
  HealthCheck,
  HistoryEntry,
  ReleaseAuthors,
  Rollout,
  RolloutSpec,
  VersionInfo,
} from '../../../api/types.ts';
import type { Budgets } from '../../budget/selectingBudgets.ts';
import type { RequiredGates } from '../../gate/closedGates.ts';
import { parseDuration } from '../../kube/duration.ts';
import { sameJson } from '../../kube/json.ts';
import { LIMITS } from '../../limits.ts';
import type { CopyInputs } from '../../releaseCopy/job.ts';
import type { BakeConfig } from '../deployment/bake.ts';
import type { CarriedDeployment } from '../deployment/entry.ts';
import { bakes } from '../deployment/history.ts';
import type { UpstreamRollouts } from '../upstream/upstreamVerdict.ts';
import type { CountedRolloutGate } from './rolloutGates.ts';
import type { Requests } from './rolloutRequests.ts';
import { gatesFirstDeployment, specProblems } from './specProblems.ts';

/** All that was read for a Rollout. A plan starts with the part that concerns it: see `ownPart`. */
export interface Observed {
  rollout: Rollout;
  /** The ImagePolicy of spec.releasesImagePolicy; undefined if it doesn't exist. */
  imagePolicy: ImagePolicy | undefined;
  rolloutGates: readonly CountedRolloutGate[];
  bindings: readonly FluxBinding[];
  /** HealthChecks that spec.healthCheckSelector matches and that may be watched. */
  healthChecks: readonly HealthCheck[];
  /** The number of HealthChecks that the selector matches and that did not consent. A condition reports it. */
  unconsentingChecks: number;
  /** Further problems of the spec in this cluster, a sentence each. */
  problems: readonly string[];
  /** The RolloutBudgets that select the Rollout; absent if they were not read live. */
  budgets?: Budgets;
  /** The Gates that every deployment requires. */
  requiredGates: RequiredGates;
  /** The Gates that exist, by `refKey`. */
  gates: ReadonlyMap<string, Gate>;
  /** The inputs of the copy to spec.targetRepository; undefined if that is not set. */
  copyInputs: CopyInputs | undefined;
  /** The upstream Rollouts of spec.after. */
  upstream: UpstreamRollouts;
  /** Metadata from the registry, by tag. */
  metadata: Readonly<Record<string, ReleaseMetadata>>;
  /** Tags whose metadata the registry may still deliver. */
  awaitedMetadata: readonly string[];
  /** Deployments of this Rollout that Flux objects carry; read only while there is no history. */
  carried: readonly CarriedDeployment[];
  /** Why the ConfigMap of spec.releaseConfigMap cannot be written. */
  configMapProblem: string | undefined;
  /** The present ImagePolicy of spec.writeBack, if it belongs to this Rollout. */
  derivedPolicy: ImagePolicy | undefined;
  /** Why that ImagePolicy cannot be written. */
  writeBackProblem: string | undefined;
  settings: Pick<Settings, 'onFailure' | 'kuberikCompat' | 'noCrossNamespaceRefs'>;
}

/** The part of a Rollout's status that decisions start from, and change. */
export interface RolloutState {
  history: readonly HistoryEntry[];
  available: readonly VersionInfo[];
  /** Releases that were rolled back and not deployed since. */
  rolledBack: readonly string[];
  /** Releases that must not be rolled back. */
  barriers: readonly string[];
  /** The authors of releases whose approvals must not come from authors. */
  authors: readonly ReleaseAuthors[];
  conditions: readonly Condition[];
}

/** Everything from which the next deployment of a Rollout is decided. */
export interface RolloutContext {
  observed: Observed;
  config: RolloutConfig;
  state: RolloutState;
  /** The requests that are not used up. */
  requests: Requests;
  now: EpochMs;
}

/**
 * The configuration of a Rollout. The CRD rejects most values that do not parse; objects stored under the Go
 * controller's CRD may have them.
 */
export interface RolloutConfig extends BakeConfig {
  /** Milliseconds; undefined if releases of any age may be deployed. */
  minimumReleaseAge?: number;
  /** Whether RolloutGates block the first deployment too: by default, but not with `kuberikCompat`. */
  gateFirstDeployment: boolean;
  /** Whether new deployments bake. */
  bakes: boolean;
  historyLimit: number;
  retentionDays: number;
  minReleases: number;
  onFailure: NonNullable<RolloutSpec['onFailure']>;
  /** spec.rollback.barrier: a release that is never rolled back. */
  barrier?: string;
  /** Problems of the spec, a sentence each. With any, nothing is deployed and no bake progresses. */
  problems: string[];
}

export function readRolloutConfig({ rollout, settings, problems }: Observed): RolloutConfig {
  const { kuberikCompat = false } = settings;
  const spec: Partial<RolloutSpec> = rollout.spec ?? {};
  return {
    minimumReleaseAge: parseDuration(spec.minimumReleaseAge),
    bakeTime: parseDuration(spec.bakeTime),
    deployTimeout: parseDuration(spec.deployTimeout),
    kuberikCompat,
    gateFirstDeployment: gatesFirstDeployment(rollout.spec, kuberikCompat),
    bakes: bakes(rollout),
    historyLimit: Math.min(Math.max(spec.versionHistoryLimit ?? 0, LIMITS.historyKept), LIMITS.history),
    retentionDays: spec.availableReleasesRetentionDays ?? 7,
    minReleases: spec.availableReleasesMinCount ?? 30,
    onFailure: spec.onFailure ?? settings.onFailure,
    barrier: spec.rollback?.barrier || undefined,
    problems: [...specProblems(spec), ...problems],
  };
}

/**
 * Whether the cached Rollout differs from the live one in a field that decides a deployment. Labels do, since Gates
 * select by them; managedFields don't.
 * @param live undefined if the Rollout is gone
 */
export function isStale(cached: Rollout, live: Rollout | undefined): boolean {
  return !live || !sameJson(decidingFields(cached), decidingFields(live));
}

function decidingFields({ metadata, status }: Rollout) {
  const { uid, generation, deletionTimestamp, annotations = {}, labels = {} } = metadata;
  return { uid, generation, deletionTimestamp, annotations, labels, revision: status?.revision };
}
