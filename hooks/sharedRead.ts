/** One live read for callers that come at the same time. */
import type { ClusterReader } from '../api/ports.ts';

type Read<Ref, T> = (cluster: ClusterReader, ref: Ref) => Promise<T>;

/**
 * A read never answers with what was read before it was asked for: a caller who comes while one is under way waits for
 * the next, which all who came meanwhile share.
 */
export function sharedRead<Ref, T>(read: Read<Ref, T>): Read<Ref, T> {
  const running = new WeakMap<ClusterReader, Map<string, Promise<unknown>>>();
  const waiting = new WeakMap<ClusterReader, Map<string, Promise<T>>>();

  return (cluster, ref) => {
    const key = JSON.stringify(ref);
    const current = running.get(cluster)?.get(key);
    if (!current) return start(cluster, ref, key);
    const next =
      waiting.get(cluster)?.get(key) ??
      current.then(() => {
        waiting.get(cluster)?.delete(key);
        return start(cluster, ref, key);
      });
    entries(waiting, cluster).set(key, next);
    return next;
  };

  function start(cluster: ClusterReader, ref: Ref, key: string): Promise<T> {
    const result = read(cluster, ref);
    const forget = () => {
      running.get(cluster)?.delete(key);
    };
    entries(running, cluster).set(key, result.then(forget, forget));
    return result;
  }
}

function entries<V>(map: WeakMap<ClusterReader, Map<string, V>>, cluster: ClusterReader): Map<string, V> {
  let list = map.get(cluster);
  if (!list) {
    list = new Map();
    map.set(cluster, list);
  }
  return list;
}
