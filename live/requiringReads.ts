/** The objects that may require a Gate, from one list for all Gates. */
import { apiVersionOf, FLUX_BINDINGS, GOVERNED_KINDS, NAMESPACES, ROLLOUTS, resourceOf } from '../api/kinds.ts';
import type { EpochMs, KubeObject } from '../api/kubernetes.ts';
import type { BoundedList, ClusterReader, HookCall } from '../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../api/types.ts';
import { memoryLimit } from '../core/collection/memoryLimit.ts';
import { type RequiringObjects, requiringIndex } from '../core/gate/requirers.ts';
import { identityOf, refKey } from '../core/kube/names.ts';
import { reachMetadata } from '../core/suspension/unreachedObjects.ts';
import { listKept } from './objectReads.ts';

/** The maximum age of the list. */
const MAX_AGE_MS = 30_000;
/**
 * The maximum age of a fresh list with 1000 objects; longer for more. Any tenant can change a Gate, and a list of
 * 20,000 objects takes a second of this server's time.
 */
const FRESH_MAX_AGE_MS = 3000;
const FRESH_MAX_AGE_MS_PER_OBJECT = 3;
/** The maximum age of a failure if the list has to be fresh: longer than a read waits for the API server (4 s). */
const FAILED_MAX_AGE_MS = 5000;

/**
 * The objects that may require a Gate, listed once for all Gates: as related objects they would trigger a sync of every
 * Gate at every change of any binding. undefined if the cluster doesn't answer, or the objects are too large.
 * @param isFresh whether the list has to be fresh: for a Gate that has just changed, and for an approval
 */
export async function readRequiring(
  isFresh: boolean,
  { cluster, sharedReads, now }: Pick<HookCall, 'cluster' | 'sharedReads' | 'now'>,
): Promise<KnownRequiring | undefined> {
  // A failure is shared too: if every Gate listed again, an overloaded API server would stay overloaded.
  const list = () => listRequiring(cluster, now).catch((): RequiringList => ({ freshMaxAgeMs: FAILED_MAX_AGE_MS }));
  const read = (maxAgeMs: number) => sharedReads.recent(maxAgeMs, 'requiring objects', list);
  const recent = await read(MAX_AGE_MS);
  const { known } = isFresh ? await read(recent.freshMaxAgeMs) : recent;
  return known;
}

interface RequiringList {
  /** Absent if the cluster didn't answer, or the objects are too large. */
  known?: KnownRequiring;
  /** The maximum age of this list where it has to be fresh. */
  freshMaxAgeMs: number;
}

/** The maximum age of the list of a namespace's Rollouts. */
const OWN_MAX_AGE_MS = 1000;

/** The Rollouts of the namespace that may require a Gate: the list for all Gates may lack new ones. */
export function readRolloutsIn(
  namespace: string,
  { cluster, sharedReads }: Pick<HookCall, 'cluster' | 'sharedReads'>,
): Promise<BoundedList<Rollout>> {
  const list = () => listKept({ ...ROLLOUTS, namespace }, requiringPart<Rollout>, cluster);
  return sharedReads.recent(OWN_MAX_AGE_MS, `requiring rollouts ${namespace}`, list);
}

interface KnownRequiring {
  /** When the list began. */
  readAt: EpochMs;
  /** The objects that may require the Gate. */
  of(gate: Gate): RequiringObjects;
  /** The uids of all Rollouts, by `refKey`. */
  rolloutUids: ReadonlyMap<string, string | undefined>;
}

async function listRequiring(cluster: ClusterReader, readAt: EpochMs): Promise<RequiringList> {
  const [bindings, rollouts, namespaces, objects] = await Promise.all([
    listKept(FLUX_BINDINGS, requiringPart<FluxBinding>, cluster),
    listKept(ROLLOUTS, requiringPart<Rollout>, cluster),
    cluster.listMetadata(NAMESPACES),
    listGoverned(cluster),
  ]);
  if (bindings.isTruncated || rollouts.isTruncated || objects.isTruncated) return { freshMaxAgeMs: MAX_AGE_MS };
  const labels = namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}] as const);
  const uids = rollouts.listed.map((rollout) => [refKey(identityOf(rollout)), rollout.metadata.uid] as const);
  const of = requiringIndex({
    bindings: bindings.listed,
    rollouts: rollouts.listed,
    namespaces: new Map(labels),
    objects: objects.listed,
  });
  const count = bindings.listed.length + rollouts.listed.length + objects.listed.length;
  return {
    known: { readAt, of, rolloutUids: new Map(uids) },
    freshMaxAgeMs: Math.max(FRESH_MAX_AGE_MS, FRESH_MAX_AGE_MS_PER_OBJECT * count),
  };
}

/** All Flux objects that Gates may hold, with the metadata that shows whether a Gate has reached them. */
async function listGoverned(cluster: ClusterReader): Promise<BoundedList<KubeObject>> {
  const fits = memoryLimit();
  const lists = await Promise.all(
    GOVERNED_KINDS.map(async (row) => {
      if (!(await cluster.serves(resourceOf(row)))) return { listed: [], isTruncated: false };
      const of = { apiVersion: apiVersionOf(row), kind: row.kind };
      const keep = (object: KubeObject) => ({ ...of, metadata: reachMetadata(object) });
      return listKept({ ...resourceOf(row), metadataOnly: true }, keep, cluster, { fits });
    }),
  );
  return { listed: lists.flatMap(({ listed }) => listed), isTruncated: lists.some(({ isTruncated }) => isTruncated) };
}

/** The parts of a FluxBinding or Rollout that show which Gates it requires. */
function requiringPart<T extends FluxBinding | Rollout>(object: KubeObject): T {
  const { metadata, spec } = object as unknown as T;
  const { name, namespace, uid, labels } = metadata;
  return { metadata: { name, namespace, uid, labels }, spec } as T;
}
