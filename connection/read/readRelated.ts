/** Reads the related objects of Rollouts. Kinds that the user can't read are noted, and left out. */
import type { FluxObject } from '../../api/flux.ts';
import { BOUND_KINDS, type KindName, NAMESPACES } from '../../api/kinds.ts';
import type { AnyObject, KubeObject, LabelSelector, NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { type RelatedObjects, relatedGates } from '../../client/explain/related.ts';
import { requiredByBinding } from '../../core/gate/closedGates.ts';
import { identityOf, refKey, uniqueRefs } from '../../core/kube/names.ts';
import { matchesSelector } from '../../core/kube/selector.ts';
import { type KubeClient, unlessRefused } from '../kube/kubeClient.ts';
import { type OptionalReader, optionalReader } from './optionalReads.ts';

/** The most Gates or bound objects that are read one by one; more are listed. */
const MAX_SINGLE_READS = 20;

/** Reads the related objects of some Rollouts. */
export async function readRelated(client: KubeClient, rollouts: readonly Rollout[]): Promise<RelatedObjects> {
  const reader = optionalReader(client);
  const namespaces = [...new Set(rollouts.map(({ metadata }) => metadata.namespace ?? ''))];
  const all = async <T extends AnyObject>(kind: KindName) =>
    (await Promise.all(namespaces.map((namespace) => reader.list<T>(kind, namespace)))).flat();
  const watches = rollouts.some(({ spec }) => spec?.healthCheckSelector);
  const [rolloutGates, bindings, ownChecks, elsewhere] = await Promise.all([
    all<RolloutGate>('RolloutGate'),
    all<FluxBinding>('FluxBinding'),
    watches ? all<HealthCheck>('HealthCheck') : [],
    readOtherNamespaces(client, reader, rollouts, namespaces),
  ]);
  const [gates, objects] = await Promise.all([
    readGates(reader, gateRefs(rollouts, bindings)),
    readBound(reader, rollouts, bindings),
  ]);
  const healthChecks = [...ownChecks, ...elsewhere.healthChecks];
  return {
    gates,
    rolloutGates,
    bindings,
    healthChecks,
    objects,
    rollouts,
    unread: reader.unread,
    ...elsewhere.related,
  };
}

/** Reads the related objects of all Rollouts of the cluster, with one list of each kind. */
export async function readAllRelated(client: KubeClient): Promise<RelatedObjects> {
  const { unread, list } = optionalReader(client);
  const [gates, rolloutGates, bindings, healthChecks] = await Promise.all([
    list<Gate>('Gate', undefined),
    list<RolloutGate>('RolloutGate', undefined),
    list<FluxBinding>('FluxBinding', undefined),
    list<HealthCheck>('HealthCheck', undefined),
  ]);
  const objects = await Promise.all(boundKinds(bindings).map(({ kind }) => list<FluxObject>(kind, undefined)));
  return { gates, rolloutGates, bindings, healthChecks, objects: objects.flat(), rollouts: [], unread };
}

/** Reads the HealthChecks of other namespaces that the Rollouts watch. `home`: the namespaces that were read. */
async function readOtherNamespaces(
  client: KubeClient,
  { list }: OptionalReader,
  rollouts: readonly Rollout[],
  home: readonly string[],
): Promise<{ healthChecks: HealthCheck[]; related: Pick<RelatedObjects, 'namespaces'> }> {
  const selectors = rollouts.flatMap(({ spec }) => spec?.healthCheckSelector?.namespaceSelector ?? []);
  if (selectors.length === 0) return { healthChecks: [], related: {} };
  const namespaces = await readNamespaces(client);
  if (!Array.isArray(namespaces)) return { healthChecks: [], related: { namespaces } };
  const names = namespaces
    .filter(({ metadata }) => selectors.some((selector) => isMatch(selector, metadata.labels)))
    .flatMap(({ metadata: { name = '' } }) => (home.includes(name) ? [] : [name]));
  const from = names.length > MAX_SINGLE_READS ? [undefined] : names;
  const found = (await Promise.all(from.map((name) => list<HealthCheck>('HealthCheck', name)))).flat();
  const healthChecks = found.filter(({ metadata }) => !home.includes(metadata.namespace ?? ''));
  return { healthChecks, related: { namespaces } };
}

/** Whether a selector matches; an invalid one matches nothing. */
function isMatch(selector: LabelSelector, labels: Record<string, string> | undefined): boolean {
  try {
    return matchesSelector(selector, labels);
  } catch {
    return false;
  }
}

export async function readNamespaces(client: KubeClient): Promise<NonNullable<RelatedObjects['namespaces']>> {
  return (await unlessRefused(client.list<KubeObject>(NAMESPACES), 403)) ?? { unread: NAMESPACES_UNREAD };
}

export const NAMESPACES_UNREAD = "you aren't allowed to list Namespaces";

/** The Gates that may block versions of the Rollouts. `bindings`: those of all objects that are bound to them. */
export function gateRefs(rollouts: readonly Rollout[], bindings: readonly FluxBinding[]): NamespacedName[] {
  const all = [
    ...rollouts.flatMap((rollout) => relatedGates(rollout, []).refs),
    ...bindings.flatMap(({ spec }) => requiredByBinding(spec).refs),
  ];
  return uniqueRefs(all);
}

async function readGates({ unread, list, get }: OptionalReader, refs: readonly NamespacedName[]): Promise<Gate[]> {
  if (refs.length > MAX_SINGLE_READS) {
    const before = unread.length;
    const gates = await list<Gate>('Gate', undefined);
    if (unread.length === before) return gates;
    unread.length = before;
  }
  const found = await Promise.all(refs.slice(0, MAX_SINGLE_READS * 5).map((ref) => get<Gate>('Gate', ref)));
  return found.flatMap((gate) => gate ?? []);
}

type BoundKind = (typeof BOUND_KINDS)[number];

/** The kinds of the objects of these FluxBindings. */
export function boundKinds(bindings: readonly FluxBinding[]): BoundKind[] {
  const named = new Set(bindings.map(({ spec }) => spec?.target.kind));
  return BOUND_KINDS.filter(({ kind }) => named.has(kind));
}

/** Reads the Flux objects that are bound to these Rollouts. */
async function readBound(
  { list, get }: OptionalReader,
  rollouts: readonly Rollout[],
  bindings: readonly FluxBinding[],
): Promise<FluxObject[]> {
  const wanted = new Set(rollouts.map((rollout) => refKey(identityOf(rollout))));
  const own = bindings.filter(({ metadata: { namespace = '' }, spec }) =>
    spec?.fields?.some(({ rollout: name }) => wanted.has(refKey({ namespace, name }))),
  );
  const kinds = boundKinds(own);
  const namespaces = [...new Set(own.map(({ metadata }) => metadata.namespace ?? ''))];
  const reads =
    own.length > MAX_SINGLE_READS
      ? namespaces.flatMap((namespace) => kinds.map(({ kind }) => list<FluxObject>(kind, namespace)))
      : own.map(async ({ metadata: { namespace = '' }, spec }) => {
          const row = kinds.find(({ kind }) => kind === spec?.target.kind);
          return row && get<FluxObject>(row.kind, { namespace, name: spec?.target.name ?? '' });
        });
  return (await Promise.all<FluxObject[] | FluxObject | undefined>(reads)).flatMap((found) => found ?? []);
}
