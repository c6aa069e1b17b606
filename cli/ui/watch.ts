/** One kind for as long as the page is open: what may not be read or is not there is asked for again, and elsewhere where that may do. */
import { setTimeout as wait } from 'node:timers/promises';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { KindState } from '../../client/board/messages.ts';
import { isApiError } from '../kube/apiError.ts';
import type { Collection, KubeClient } from '../kube/client.ts';
import { follow } from '../kube/follow.ts';

type Any = KubeObject<any, any>;

export interface Sink {
  /** All there is, after a first read or a new one. */
  replace(objects: Any[]): void;
  set(object: Any): void;
  remove(object: Any): void;
  state(state: Omit<KindState, 'kind'>): void;
}

/** A role that was granted, or a CRD that was installed, shows without a new start. */
const AGAIN_MS = 30_000;
/** Whether the API server answers again is asked this often: a watch that goes on says nothing until something changes. */
const PROBE_MS = 1000;
/** Whoever signs in again wants to go on at once. */
const SIGNED_OUT_MS = 3000;

/** Ends with the signal. `fallback`: the namespace to read where the whole cluster may not be; absent for a kind without namespaces. */
export async function keepWatching(
  client: KubeClient,
  from: Collection,
  { sink, fallback, signal }: { sink: Sink; fallback?: string; signal: AbortSignal },
): Promise<void> {
  let where = from;
  while (!signal.aborted) {
    const scope = where === from || fallback === undefined ? {} : { namespace: fallback };
    let isLost = false;
    const heard = () => {
      isLost = false;
      sink.state({ state: 'live', ...scope });
    };
    const lost = ({ message: why }: Error) => {
      sink.state({ state: 'reconnecting', why, ...scope });
      if (isLost) return;
      isLost = true;
      void answered(client, () => isLost && !signal.aborted).then(() => isLost && heard());
    };
    try {
      for await (const change of follow<Any>(client, where, signal)) {
        if (change.type === 'all') sink.replace(change.items.map(slim));
        else if (change.type === 'set') sink.set(slim(change.object));
        else if (change.type === 'gone') sink.remove(change.object);
        if (change.type === 'lost') lost(change.error);
        else heard();
      }
    } catch (error) {
      isLost = false;
      if (!isApiError(error)) throw error;
      const { code, message: why } = error;
      if (code === 403 && !where.namespace && fallback !== undefined) {
        where = { ...from, namespace: fallback };
        continue;
      }
      const state = code === 401 ? 'signed-out' : code === 403 ? 'forbidden' : 'absent';
      if (state !== 'signed-out') sink.replace([]);
      sink.state({ state, why, ...scope });
      await wait(state === 'signed-out' ? SIGNED_OUT_MS : AGAIN_MS, undefined, { signal }).catch(() => {});
      where = from;
    }
  }
}

/** Ends when the API server answers, whatever it says, or when nobody waits for that any longer. */
async function answered(client: KubeClient, isAwaited: () => boolean): Promise<void> {
  while (isAwaited()) {
    try {
      await client.raw('/version');
      return;
    } catch (error) {
      if (isApiError(error) && error.code > 0) return;
    }
    await wait(PROBE_MS);
  }
}

/** Who owned which field is half of an object, and nothing here looks at it. */
function slim(object: Any): Any {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
