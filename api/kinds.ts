/**
 * Every kind of Flux and of ours: the only place with group, versions and resource, and with what Gates and Rollouts do
 * to the kind. All other lists derive from this table; test/manifests/kinds.test.ts compares the manifests with it.
 */
import type { ResourceRef } from './ports.ts';

interface KindRow<Name extends string> {
  kind: Name;
  group: string;
  /** Versions that this software reads, newest first. */
  versions: readonly [string, ...string[]];
  /** Plural, lower case. */
  resource: string;
  /**
   * Set if Gates can hold the kind. A source fetches, and gets condition Blocked; a sync applies, and gets Approved.
   */
  governed?: 'sync' | 'source';
  /** Set if Rollouts can set fields of the kind: core/managedField/managedFields.ts. */
  hasManagedFields?: true;
  /** Set if a Rollout can wait for the kind without a managed field: its version is that of its OCIRepository. */
  tracks?: true;
  /** Set if a Kustomization can apply the artifact of the kind. */
  artifact?: true;
}

const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io';
const HELM = 'helm.toolkit.fluxcd.io';
const IMAGE = 'image.toolkit.fluxcd.io';
const SOURCE = 'source.toolkit.fluxcd.io';
const GATING = 'gating.toolkit.fluxcd.io';
const KUBERIK = 'kuberik.com';

// biome-ignore format: a table
export const KINDS = {
  Kustomization: { kind: 'Kustomization', group: KUSTOMIZE, versions: ['v1'], resource: 'kustomizations', governed: 'sync', hasManagedFields: true },
  HelmRelease: { kind: 'HelmRelease', group: HELM, versions: ['v2'], resource: 'helmreleases', governed: 'sync', tracks: true },
  ImageUpdateAutomation: { kind: 'ImageUpdateAutomation', group: IMAGE, versions: ['v1'], resource: 'imageupdateautomations', governed: 'sync' },
  GitRepository: { kind: 'GitRepository', group: SOURCE, versions: ['v1'], resource: 'gitrepositories', governed: 'source', artifact: true },
  OCIRepository: { kind: 'OCIRepository', group: SOURCE, versions: ['v1'], resource: 'ocirepositories', governed: 'source', hasManagedFields: true, artifact: true },
  HelmRepository: { kind: 'HelmRepository', group: SOURCE, versions: ['v1'], resource: 'helmrepositories', governed: 'source' },
  Bucket: { kind: 'Bucket', group: SOURCE, versions: ['v1'], resource: 'buckets', governed: 'source', artifact: true },
  // Not governed: it has no spec.suspend, and no controller reconciles it. Gates hold its consumers.
  ExternalArtifact: { kind: 'ExternalArtifact', group: SOURCE, versions: ['v1'], resource: 'externalartifacts', artifact: true },
  ImagePolicy: { kind: 'ImagePolicy', group: IMAGE, versions: ['v1', 'v1beta2'], resource: 'imagepolicies' },
  // Not governed, although it can be suspended: only ImageUpdateAutomations and Rollouts act on a scan, and Gates hold
  // those. For the same reason HelmChart has no row: only HelmReleases consume it.
  ImageRepository: { kind: 'ImageRepository', group: IMAGE, versions: ['v1', 'v1beta2'], resource: 'imagerepositories' },
  Gate: { kind: 'Gate', group: GATING, versions: ['v1alpha1'], resource: 'gates' },
  Rollout: { kind: 'Rollout', group: KUBERIK, versions: ['v1alpha1'], resource: 'rollouts' },
  RolloutGate: { kind: 'RolloutGate', group: KUBERIK, versions: ['v1alpha1'], resource: 'rolloutgates' },
  RolloutSchedule: { kind: 'RolloutSchedule', group: KUBERIK, versions: ['v1alpha1'], resource: 'rolloutschedules' },
  ClusterRolloutSchedule: { kind: 'ClusterRolloutSchedule', group: KUBERIK, versions: ['v1alpha1'], resource: 'clusterrolloutschedules' },
  RolloutBudget: { kind: 'RolloutBudget', group: KUBERIK, versions: ['v1alpha1'], resource: 'rolloutbudgets' },
  ClusterRolloutBudget: { kind: 'ClusterRolloutBudget', group: KUBERIK, versions: ['v1alpha1'], resource: 'clusterrolloutbudgets' },
  HealthCheck: { kind: 'HealthCheck', group: KUBERIK, versions: ['v1alpha1'], resource: 'healthchecks' },
  MetricProvider: { kind: 'MetricProvider', group: KUBERIK, versions: ['v1alpha1'], resource: 'metricproviders' },
  FluxBinding: { kind: 'FluxBinding', group: KUBERIK, versions: ['v1alpha1'], resource: 'fluxbindings' },
} as const satisfies { [Name in string]: KindRow<Name> };

type Table = typeof KINDS;
export type KindName = keyof Table;
export type GovernedKind = { [K in KindName]: Table[K] extends { governed: string } ? K : never }[KindName];

const ROWS: readonly KindRow<KindName>[] = Object.values(KINDS);

export const GOVERNED_KINDS = ROWS.filter((row): row is KindRow<GovernedKind> => row.governed !== undefined);
export const KINDS_WITH_MANAGED_FIELDS = ROWS.filter(({ hasManagedFields }) => hasManagedFields);
/** Kinds that annotations may bind to a Rollout. */
export const BOUND_KINDS = ROWS.filter(({ hasManagedFields, tracks }) => hasManagedFields || tracks);
export const ARTIFACT_KINDS = ROWS.filter(({ artifact }) => artifact);

/** `group/version` of the newest version, in which objects are written too. */
export function apiVersionOf({ group, versions: [newest] }: Pick<KindRow<string>, 'group' | 'versions'>): string {
  return `${group}/${newest}`;
}

/** The API version and plural by which the API server serves the kind. */
export function resourceOf(row: KindRow<string>): Pick<ResourceRef, 'apiVersion' | 'resource'> {
  return { apiVersion: apiVersionOf(row), resource: row.resource };
}

export const KUSTOMIZATIONS = resourceOf(KINDS.Kustomization);
export const GATES = resourceOf(KINDS.Gate);
export const ROLLOUTS = resourceOf(KINDS.Rollout);
export const ROLLOUT_GATES = resourceOf(KINDS.RolloutGate);
export const ROLLOUT_BUDGETS = resourceOf(KINDS.RolloutBudget);
export const CLUSTER_ROLLOUT_BUDGETS = resourceOf(KINDS.ClusterRolloutBudget);
export const HEALTH_CHECKS = resourceOf(KINDS.HealthCheck);
export const METRIC_PROVIDERS = resourceOf(KINDS.MetricProvider);
export const FLUX_BINDINGS = resourceOf(KINDS.FluxBinding);
export const NAMESPACES = { apiVersion: 'v1', resource: 'namespaces' };

/** The governed kind that an object is of, in any version of its group. */
export function governedKindOf(group: string, kind: string): GovernedKind | undefined {
  return GOVERNED_KINDS.find((row) => row.group === group && row.kind === kind)?.kind;
}
