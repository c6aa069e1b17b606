/**
 * The inputs of a Rollout's plan: all that was read for it, and its settings.
 * hooks/rollout/observe.ts makes them from the related objects, and `decidePlan` again from live reads.
 */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { Condition, NamespacedName } from '../../../api/kubernetes.ts';
import type { ReleaseMetadata, Settings } from '../../../api/ports.ts';
import type {
  FluxBinding,
  Gate,
  HealthCheck,
  HistoryEntry,
  Rollout,
  RolloutSpec,
  VersionInfo,
} from '../../../api/types.ts';
import type { Budgets } from '../../budget/selectingBudgets.ts';
import { healthCheckLabels } from '../../health/association.ts';
import { durationProblem, parseDuration } from '../../kube/duration.ts';
import { selectorProblems } from '../../kube/selector.ts';
import { LIMITS } from '../../limits.ts';
import type { Copying } from '../../releaseCopy/job.ts';
import type { CarriedDeployment } from '../deployment/entry.ts';
import { bakes } from '../deployment/history.ts';
import type { OnFailure } from '../deployment/rollback.ts';
import { afterProblems } from '../upstream/dependencies.ts';
import type { UpstreamRollouts } from '../upstream/upstreamVerdict.ts';
import type { CountedRolloutGate } from './rolloutGates.ts';
import type { ReleaseAuthors } from './versionApprovals.ts';

export interface Observed {
  rollout: Rollout;
  /** The ImagePolicy of spec.releasesImagePolicy; undefined if it doesn't exist. */
  imagePolicy?: ImagePolicy | undefined;
  /** RolloutGates of other Rollouts are ignored. */
  rolloutGates: readonly CountedRolloutGate[];
  /** Bindings of objects that are not bound to this Rollout are ignored. */
  bindings: readonly FluxBinding[];
  /** HealthChecks that spec.healthCheckSelector matches and that may be watched. */
  healthChecks: readonly HealthCheck[];
  /** The number of HealthChecks that the selector matches and that did not consent. A condition reports it. */
  healthLeftOut?: number;
  /** Further problems of the spec in this cluster, a sentence each. */
  problems?: readonly string[];
  /** The RolloutBudgets that select the Rollout; absent if they were not read live. */
  budgets?: Budgets;
  /** The Gates that every deployment requires. */
  gateRefs: readonly NamespacedName[];
  /** The Gates that exist, by `refKey`. */
  gates: ReadonlyMap<string, Gate>;
  /** The inputs of the copy to spec.targetRepository; absent if that is not set. */
  copying?: Copying | undefined;
  /** The upstream Rollouts of spec.after; absent if there are none. */
  upstream?: UpstreamRollouts | undefined;
  /** Metadata from the registry, by tag. */
  metadata: Readonly<Record<string, ReleaseMetadata>>;
  /** Tags whose metadata the registry may still deliver. */
  awaited?: readonly string[];
  /** Deployments of this Rollout that Flux objects carry; read only while there is no history. */
  carried?: readonly CarriedDeployment[];
  /** Why the ConfigMap of spec.releaseConfigMap cannot be written. */
  configMapProblem?: string | undefined;
  /** The present ImagePolicy of spec.writeBack, if it belongs to this Rollout. */
  derivedPolicy?: ImagePolicy | undefined;
  /** Why that ImagePolicy cannot be written. */
  writeBackProblem?: string | undefined;
  onFailure: Settings['onFailure'];
  likeKuberik?: boolean | undefined;
}

// The settings. The CRD rejects most values that do not parse; objects from before may still have them.

export interface RolloutConfig {
  /** Milliseconds. */
  bakeTime?: number;
  /** Milliseconds. */
  deployTimeout?: number;
  /** Milliseconds; undefined if releases of any age may be deployed. */
  minimumReleaseAge?: number;
  /** Whether RolloutGates hold the first deployment too: by default, but not with `likeKuberik`. */
  gateFirstDeployment: boolean;
  /** Whether new deployments bake. */
  bakes: boolean;
  historyLimit: number;
  retentionDays: number;
  minReleases: number;
  onFailure: OnFailure;
  /** spec.rollback.barrier: a release that is never rolled back. */
  barrier?: string;
  /** Problems of the spec, a sentence each. With any, nothing is deployed and no bake progresses. */
  problems: string[];
}

const DURATIONS = ['bakeTime', 'deployTimeout', 'releaseUpdateInterval', 'minimumReleaseAge'] as const;

export function readRolloutConfig(
  rollout: Rollout,
  { onFailure, likeKuberik = false, problems = [] }: Pick<Observed, 'onFailure' | 'likeKuberik' | 'problems'>,
): RolloutConfig {
  const spec: Partial<RolloutSpec> = rollout.spec ?? {};
  const bakeTime = parseDuration(spec.bakeTime);
  const deployTimeout = parseDuration(spec.deployTimeout);
  const minimumReleaseAge = parseDuration(spec.minimumReleaseAge);
  return {
    ...(minimumReleaseAge !== undefined && { minimumReleaseAge }),
    ...(bakeTime !== undefined && { bakeTime }),
    ...(deployTimeout !== undefined && { deployTimeout }),
    gateFirstDeployment: gatesFirst(rollout.spec, likeKuberik),
    bakes: bakes(rollout),
    historyLimit: Math.min(Math.max(spec.versionHistoryLimit ?? 0, LIMITS.historyKept), LIMITS.history),
    retentionDays: spec.availableReleasesRetentionDays ?? 7,
    minReleases: spec.availableReleasesMinCount ?? 30,
    onFailure: spec.onFailure ?? onFailure,
    ...(spec.rollback?.barrier && { barrier: spec.rollback.barrier }),
    problems: [...specProblems(spec), ...problems],
  };
}

/** The problems of fields that do not parse: field, value and reason, a sentence each. */
export function specProblems(spec: Partial<RolloutSpec>): string[] {
  const durations = DURATIONS.flatMap((field) => durationProblem(`spec.${field}`, spec[field]) ?? []);
  return [...durations, ...healthSelectorProblems(spec.healthCheckSelector), ...afterProblems(spec.after)];
}

/**
 * The problem of a write that sets spec.initialVersion after creation, or frees it from RolloutGates.
 * The initial version runs already, so nothing holds it: no upstream Rollout, age, budget or bake, and RolloutGates
 * only with gateFirstDeployment. Set later, it would bypass all of these.
 */
export function initialVersionProblem(rollout: Rollout, before: Rollout, likeKuberik?: boolean): string | undefined {
  const { initialVersion } = rollout.spec ?? {};
  if (!initialVersion || before.status?.history?.length) return undefined;
  if (initialVersion === before.spec?.initialVersion) {
    if (!gatesFirst(before.spec, likeKuberik) || gatesFirst(rollout.spec, likeKuberik)) return undefined;
    return (
      `spec.gateFirstDeployment cannot become false after creation, because spec.initialVersion ${JSON.stringify(initialVersion)} would bypass ` +
      'RolloutGates and their approvals: deploy that version manually, or delete the Rollout and create it again'
    );
  }
  return (
    `spec.initialVersion ${JSON.stringify(initialVersion)} can be set only at creation, because no upstream Rollout and no bake would block it: ` +
    'remove it, or delete the Rollout and create it again with the version that runs'
  );
}

function gatesFirst(spec: RolloutSpec | undefined, likeKuberik = false): boolean {
  return spec?.gateFirstDeployment ?? !likeKuberik;
}

function healthSelectorProblems(healthCheckSelector: RolloutSpec['healthCheckSelector']): string[] {
  const parts = [
    ['spec.healthCheckSelector.selector', healthCheckLabels(healthCheckSelector)],
    ['spec.healthCheckSelector.namespaceSelector', healthCheckSelector?.namespaceSelector],
  ] as const;
  return parts.flatMap(([path, selector]) =>
    selectorProblems(selector, path).map(({ field, value, reason }) => `${field}: ${JSON.stringify(value)} ${reason}`),
  );
}

/** The problems of references to other namespaces, for installations that forbid them: a sentence each. */
export function foreignRefProblems({ metadata, spec }: Rollout): string[] {
  const named = [
    { path: 'spec.releasesImagePolicy.namespace', namespace: spec?.releasesImagePolicy?.namespace },
    ...(spec?.gates ?? []).map(({ namespace }, index) => ({ path: `spec.gates[${index}].namespace`, namespace })),
    ...(spec?.after ?? []).map(({ namespace }, index) => ({ path: `spec.after[${index}].namespace`, namespace })),
  ];
  const sentences = named
    .filter(({ namespace }) => namespace && namespace !== metadata.namespace)
    .map(
      ({ path, namespace }) =>
        `${path}: references to another namespace (${JSON.stringify(namespace)}) are forbidden (NO_CROSS_NAMESPACE_REFS)`,
    );
  const { namespaceSelector } = spec?.healthCheckSelector ?? {};
  if (!namespaceSelector) return sentences;
  return [
    ...sentences,
    'spec.healthCheckSelector.namespaceSelector: references to other namespaces are forbidden (NO_CROSS_NAMESPACE_REFS)',
  ];
}

/** The Rollout without its references to other namespaces, so that nothing is read there for it. */
export function withoutForeignRefs(rollout: Rollout): Rollout {
  const { metadata, spec } = rollout;
  if (!spec) return rollout;
  const isOwn = ({ namespace }: { namespace?: string }) => !namespace || namespace === metadata.namespace;
  const { namespaceSelector: _, ...health } = spec.healthCheckSelector ?? {};
  return {
    ...rollout,
    spec: {
      ...spec,
      releasesImagePolicy: isOwn(spec.releasesImagePolicy) ? spec.releasesImagePolicy : {},
      ...(spec.gates && { gates: spec.gates.filter(isOwn) }),
      ...(spec.after && { after: spec.after.filter(isOwn) }),
      ...(spec.healthCheckSelector && { healthCheckSelector: health }),
    },
  };
}

/** The part of a Rollout's status that decisions start from, and change. */
export interface RolloutState {
  history: readonly HistoryEntry[];
  available: readonly VersionInfo[];
  /** Releases that were rolled back and not deployed since. */
  rolledBack: readonly string[];
  /** Releases that must not be rolled back. */
  barriers: readonly string[];
  /** The authors of releases whose approvals exclude authors. */
  authors: readonly ReleaseAuthors[];
  conditions: readonly Condition[];
}
