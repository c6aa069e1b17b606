/** Live reads that hooks and webhooks share, except those of Gates. */
import type { FluxObject } from '../api/flux.ts';
import { apiVersionOf, BOUND_KINDS, KINDS, NAMESPACES, ROLLOUT_GATES, ROLLOUTS, resourceOf } from '../api/kinds.ts';
import type { AnyObject, KubeObject, NamespacedName, ObjectName } from '../api/kubernetes.ts';
import type { BoundedList, ClusterReader, HookCall } from '../api/ports.ts';
import type { Rollout, RolloutGate } from '../api/types.ts';
import { memoryLimit } from '../core/collection/memoryLimit.ts';
import { byRefKey, refKey } from '../core/kube/names.ts';
import {
  consentingRollouts,
  namespacesToAsk,
  orderProblem,
  unreadUpstream,
  upstreamRefs,
} from '../core/rollout/upstream/dependencies.ts';
import type { UpstreamRollouts } from '../core/rollout/upstream/upstreamVerdict.ts';
import { inParallel } from './inParallel.ts';

type Reads = Pick<HookCall, 'cluster' | 'settings'>;

/** The metadata of all objects of these kinds in a namespace. A kind that isn't served has none. */
export async function objectsOfKinds(
  kinds: readonly (typeof BOUND_KINDS)[number][],
  namespace: string,
  cluster: ClusterReader,
): Promise<FluxObject[]> {
  const lists = await Promise.all(
    kinds.map(async (row) => {
      if (!(await cluster.serves(resourceOf(row)))) return [];
      const objects = await cluster.listMetadata({ ...resourceOf(row), namespace });
      return objects.map(({ metadata }) => ({ apiVersion: apiVersionOf(row), kind: row.kind, metadata }));
    }),
  );
  return lists.flat();
}

/** The existing objects of these names, of kinds that annotations may bind to a Rollout. */
export async function readObjects(names: readonly ObjectName[], cluster: ClusterReader): Promise<FluxObject[]> {
  const read = ({ kind, namespace, name }: ObjectName) => {
    const row = BOUND_KINDS.find((each) => each.kind === kind);
    return row && cluster.get<FluxObject>({ ...resourceOf(row), namespace, name });
  };
  const objects = await inParallel(names, async (each) => read(each));
  return objects.filter((object) => object !== undefined);
}

/**
 * The result of `keep` for each object of a list, which is read page by page because users can create any number of
 * large objects.
 * @param atMost the most objects
 * @param fits whether the results so far and this one fit into memory
 */
export async function listKept<Kept>(
  ref: Parameters<ClusterReader['pages']>[0],
  keep: (object: KubeObject) => Kept,
  cluster: ClusterReader,
  { atMost = Number.POSITIVE_INFINITY, fits = memoryLimit() } = {},
): Promise<BoundedList<Kept>> {
  const listed: Kept[] = [];
  for await (const page of cluster.pages(ref)) {
    for (const object of page) {
      const kept = keep(object);
      if (listed.length === atMost || !fits(kept)) return { listed, isTruncated: true };
      listed.push(kept);
    }
  }
  return { listed, isTruncated: false };
}

export async function namespaceLabels(name: string, cluster: ClusterReader): Promise<Record<string, string>> {
  return (await cluster.get({ ...NAMESPACES, name }))?.metadata.labels ?? {};
}

export function listRolloutGates({ metadata }: Rollout, cluster: ClusterReader): Promise<RolloutGate[]> {
  return cluster.list<RolloutGate>({
    ...ROLLOUT_GATES,
    namespace: metadata.namespace ?? '',
    fieldSelector: `spec.rolloutRef.name=${metadata.name}`,
  });
}

/**
 * The upstream Rollouts of a Rollout, `spec.after`, that consent to it, and the problem of their order.
 * Their own upstream Rollouts are always read live: a change of them must trigger no sync.
 * @param related the upstream Rollouts of the Rollout, instead of live reads
 */
export async function readUpstream(
  rollout: Rollout,
  { cluster, settings }: Reads,
  related?: readonly Rollout[],
): Promise<UpstreamRollouts> {
  const known = related && byRefKey(related);
  const refs = upstreamRefs(rollout);
  const read = new Map(known && refs.map((ref) => [refKey(ref), known.get(refKey(ref))]));
  for (let next = unreadUpstream(rollout, read); next.length > 0; next = unreadUpstream(rollout, read)) {
    const rollouts = await Promise.all(next.map((ref) => cluster.get<Rollout>({ ...ROLLOUTS, ...ref })));
    next.forEach((ref, index) => void read.set(refKey(ref), rollouts[index]));
  }
  const problem = orderProblem(rollout, read);
  const found = refs.flatMap((ref) => read.get(refKey(ref)) ?? []);
  if (settings.watchWithoutConsent) return { found, problem };
  const names = namespacesToAsk(rollout, found);
  const namespaces = await Promise.all(names.map((name) => cluster.get({ ...NAMESPACES, name })));
  return { found: consentingRollouts(rollout, found, namespaces), problem };
}

/** The newest version of the kind that the cluster serves; undefined if Flux's image reflector is not installed. */
export async function servedVersion(
  kind: 'ImagePolicy' | 'ImageRepository',
  cluster: ClusterReader,
): Promise<string | undefined> {
  const { group, versions, resource } = KINDS[kind];
  for (const version of versions) {
    const apiVersion = `${group}/${version}`;
    if (await cluster.serves({ apiVersion, resource })) return apiVersion;
  }
  return undefined;
}

/** The object, read in the version that `servedVersion` returns. */
export async function readServed<T extends AnyObject>(
  kind: 'ImagePolicy' | 'ImageRepository',
  ref: NamespacedName,
  cluster: ClusterReader,
): Promise<T | undefined> {
  const apiVersion = await servedVersion(kind, cluster);
  return apiVersion ? cluster.get<T>({ apiVersion, resource: KINDS[kind].resource, ...ref }) : undefined;
}

export const JOB = { group: 'batch', kind: 'Job' };

/** The Pods that the Job has created, by their owner: any user who may create Pods can give them its label. */
export async function podsOfJob({ metadata }: AnyObject, atMost: number, cluster: ClusterReader): Promise<AnyObject[]> {
  const { namespace = '', name, uid } = metadata;
  const labelSelector = `batch.kubernetes.io/job-name=${name}`;
  const pods = await cluster.list<AnyObject>({ apiVersion: 'v1', resource: 'pods', namespace, labelSelector, atMost });
  return pods.filter((pod) => pod.metadata.ownerReferences?.some((owner) => owner.uid === uid));
}
