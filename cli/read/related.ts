/** Reads what an explanation of some Rollouts is made from. Only what belongs to them; what may not be read is named, not fatal. */
import type { FluxObject } from '../../api/flux.ts';
import { KINDS, type KindName, NAMESPACES } from '../../api/kinds.ts';
import type { KubeObject, LabelSelector, NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import type { RelatedObjects, Unread } from '../../client/explain/related.ts';
import { gateRefsOf, gatesOf } from '../../core/gate/gateRefs.ts';
import { refKey } from '../../core/kube/names.ts';
import { matchesSelector } from '../../core/kube/selector.ts';
import type { KubeClient } from '../kube/client.ts';
import { boundKinds, readBound } from './bound.ts';
import { listed, noted, ONE_BY_ONE, whyUnread } from './listed.ts';

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
