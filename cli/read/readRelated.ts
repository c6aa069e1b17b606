/** Reads what an explanation of some Rollouts is made from. Only what belongs to them; what may not be read is named, not fatal. */
import type { FluxObject } from '../../api/flux.ts';
import { BOUND_KINDS, KINDS, type KindName, NAMESPACES, resourceOf } from '../../api/kinds.ts';
import type { KubeObject, LabelSelector, NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import type { RelatedObjects, Unread } from '../../client/explain/related.ts';
import { gateRefsOf, gatesOf } from '../../core/gate/refs.ts';
import { refKey } from '../../core/kube/names.ts';
import { matchesSelector } from '../../core/kube/selector.ts';
import { isApiError, type KubeClient } from '../kube/kubeClient.ts';

/** Of Rollouts in some namespaces. */
export async function readRelated(client: KubeClient, rollouts: readonly Rollout[]): Promise<RelatedObjects> {
  const namespaces = [...new Set(rollouts.map(({ metadata }) => metadata.namespace ?? ''))];
  const unread: Unread[] = [];
  const all = async <T extends KubeObject<any, any>>(kind: KindName, isWanted = true): Promise<T[]> => {
    const lists = namespaces.map((namespace) => (isWanted ? listed<T>(client, kind, namespace, unread) : []));
    return (await Promise.all(lists)).flat();
  };
  const watches = rollouts.some(({ spec }) => spec?.healthCheckSelector);
  const [rolloutGates, bindings, ownChecks, elsewhere] = await Promise.all([
    all<RolloutGate>('RolloutGate'),
    all<FluxBinding>('FluxBinding'),
    all<HealthCheck>('HealthCheck', watches),
    readElsewhere(client, rollouts, namespaces, unread),
  ]);
  const [gates, objects] = await Promise.all([
    readGates(client, gateNames(rollouts, bindings), unread),
    readBound(client, rollouts, bindings, unread),
  ]);
  const healthChecks = [...ownChecks, ...elsewhere.healthChecks];
  return { gates, rolloutGates, bindings, healthChecks, objects, rollouts, unread, ...elsewhere.around };
}

/** HealthChecks of the other namespaces that some of the Rollouts watch. `home`: those that were read already. */
async function readElsewhere(
  client: KubeClient,
  rollouts: readonly Rollout[],
  home: readonly string[],
  unread: Unread[],
): Promise<{ healthChecks: HealthCheck[]; around: Pick<RelatedObjects, 'namespaces'> }> {
  const selectors = rollouts.flatMap(({ spec }) => spec?.healthCheckSelector?.namespaceSelector ?? []);
  if (selectors.length === 0) return { healthChecks: [], around: {} };
  const namespaces = await readNamespaces(client);
  if (!Array.isArray(namespaces)) return { healthChecks: [], around: { namespaces } };
  const names = namespaces
    .filter(({ metadata }) => selectors.some((selector) => isMatch(selector, metadata.labels)))
    .flatMap(({ metadata: { name = '' } }) => (home.includes(name) ? [] : [name]));
  const lists = names.length > ONE_BY_ONE ? [undefined] : names;
  const found = await Promise.all(lists.map((name) => listed<HealthCheck>(client, 'HealthCheck', name, unread)));
  const isElsewhere = ({ metadata }: HealthCheck) => !home.includes(metadata.namespace ?? '');
  return { healthChecks: found.flat().filter(isElsewhere), around: { namespaces } };
}

/** A selector that does not compile finds nothing. */
function isMatch(selector: LabelSelector, labels: Record<string, string> | undefined): boolean {
  try {
    return matchesSelector(selector, labels);
  } catch {
    return false;
  }
}

export async function readNamespaces(client: KubeClient): Promise<NonNullable<RelatedObjects['namespaces']>> {
  try {
    return await client.list<KubeObject>({ ...NAMESPACES, namespace: undefined });
  } catch (error) {
    const why = whyUnread(error);
    if (why === undefined) throw error;
    return { unread: NAMESPACES_UNREAD };
  }
}

export const NAMESPACES_UNREAD = 'you may not list Namespaces';

/** Of all Rollouts of the cluster: one list of each kind. */
export async function readAllSurroundings(client: KubeClient): Promise<RelatedObjects> {
  const unread: Unread[] = [];
  const [gates, rolloutGates, bindings, healthChecks] = await Promise.all([
    listed<Gate>(client, 'Gate', undefined, unread),
    listed<RolloutGate>(client, 'RolloutGate', undefined, unread),
    listed<FluxBinding>(client, 'FluxBinding', undefined, unread),
    listed<HealthCheck>(client, 'HealthCheck', undefined, unread),
  ]);
  const kinds = boundKinds(bindings);
  const objects = await Promise.all(kinds.map(({ kind }) => listed<FluxObject>(client, kind, undefined, unread)));
  return { gates, rolloutGates, bindings, healthChecks, objects: objects.flat(), rollouts: [], unread };
}

/** Those that the Rollouts name, those that their status says are closed, and those of the bound objects. */
export function gateNames(rollouts: readonly Rollout[], bindings: readonly FluxBinding[]): NamespacedName[] {
  const named = rollouts.flatMap((rollout) => [
    ...gateRefsOf(rollout),
    ...(rollout.status?.gates ?? []).flatMap(({ kind, name }) => (kind === KINDS.Gate.kind ? refOf(name) : [])),
  ]);
  const ofBound = bindings.flatMap(({ spec }) => gatesOf(spec));
  return [
    ...new Map(
      [...named, ...ofBound].map(({ namespace, name }) => [refKey({ namespace, name }), { namespace, name }]),
    ).values(),
  ];
}

function refOf(key: string): NamespacedName[] {
  const [namespace, name] = key.split('/');
  return namespace && name ? [{ namespace, name }] : [];
}

async function readGates(client: KubeClient, refs: readonly NamespacedName[], unread: Unread[]): Promise<Gate[]> {
  if (refs.length === 0) return [];
  if (refs.length > ONE_BY_ONE) {
    const before = unread.length;
    const gates = await listed<Gate>(client, 'Gate', undefined, unread);
    if (unread.length === before) return gates;
    unread.length = before;
  }
  const found = await Promise.all(refs.slice(0, ONE_BY_ONE * 5).map((ref) => noted<Gate>(client, 'Gate', ref, unread)));
  return found.flatMap((gate) => gate ?? []);
}

type BoundKind = (typeof BOUND_KINDS)[number];

/** The kinds of which the bindings have any. */
export function boundKinds(bindings: readonly FluxBinding[]): BoundKind[] {
  const named = new Set(bindings.map(({ spec }) => spec?.target.kind));
  return BOUND_KINDS.filter(({ kind }) => named.has(kind));
}

/** Those of some Rollouts: one by one where there are few. */
export async function readBound(
  client: KubeClient,
  rollouts: readonly Rollout[],
  bindings: readonly FluxBinding[],
  unread: Unread[],
): Promise<FluxObject[]> {
  const wanted = new Set(
    rollouts.map(({ metadata }) => refKey({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' })),
  );
  const own = bindings.filter(({ metadata: { namespace = '' }, spec }) =>
    spec?.pins?.some(({ rollout: name }) => wanted.has(refKey({ namespace, name }))),
  );
  const kinds = boundKinds(own);
  if (own.length > ONE_BY_ONE) {
    const namespaces = [...new Set(own.map(({ metadata }) => metadata.namespace ?? ''))];
    const from = namespaces.flatMap((namespace) => kinds.map(({ kind }) => ({ kind, namespace })));
    return (
      await Promise.all(from.map(({ kind, namespace }) => listed<FluxObject>(client, kind, namespace, unread)))
    ).flat();
  }
  const found = await Promise.all(
    own.map(async ({ metadata: { namespace = '' }, spec }) => {
      const row = kinds.find(({ kind }) => kind === spec?.target.kind);
      return row && noted<FluxObject>(client, row.kind, { namespace, name: spec?.target.name ?? '' }, unread);
    }),
  );
  return found.flatMap((object) => object ?? []);
}

/** So many Gates of other namespaces, or bound objects, are read one by one; beyond that, all of them at once. */
export const ONE_BY_ONE = 20;

/** What cannot be listed is noted in `unread`, and there is none of it. */
export async function listed<T extends KubeObject<any, any>>(
  client: KubeClient,
  kind: KindName,
  namespace: string | undefined,
  unread: Unread[],
): Promise<T[]> {
  try {
    return await client.list<T>({ ...resourceOf(KINDS[kind]), namespace });
  } catch (error) {
    const why = whyUnread(error);
    if (why === undefined) throw error;
    unread.push({ kind, why, ...(namespace !== undefined && { namespace }) });
    return [];
  }
}

/** One object. What may not be read is noted, once for a namespace. */
export async function noted<T extends KubeObject<any, any>>(
  client: KubeClient,
  kind: KindName,
  { namespace, name }: NamespacedName,
  unread: Unread[],
): Promise<T | undefined> {
  try {
    return await client.get<T>({ ...resourceOf(KINDS[kind]), namespace, name });
  } catch (error) {
    const why = whyUnread(error);
    if (why === undefined) throw error;
    if (!unread.some((each) => each.kind === kind && each.namespace === namespace)) {
      unread.push({ kind, namespace, why });
    }
    return undefined;
  }
}

export function whyUnread(error: unknown): string | undefined {
  if (isApiError(error, 403)) return 'you may not read them';
  return isApiError(error, 404) ? 'the cluster does not have this kind' : undefined;
}
