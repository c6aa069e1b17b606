/**
 * Events about stored writes, the implementation of the port `ConfirmedEvents`. An admission request proves no write:
 * any client may send one, and an allowed write may still fail. So the cluster is read until it shows the write.
 */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Count } from '../../api/metrics.ts';
import type { ClusterReader, ConfirmedEvents, EventRecord, EventSink, Metrics, StoredFact } from '../../api/ports.ts';
import { memoryBytes } from '../../core/collection/memoryLimit.ts';

/** The wait before each read. The API server stores the object only after our answer. */
const WAITS_MS = [200, 1000, 5000];
/** Any client may send large requests: their texts stay in memory while they wait. */
const MOST_WAITING = { events: 1000, bytes: 16 * 1024 * 1024 };
/** Requests about objects of one namespace must not displace the Events of others. */
const MOST_OF_NAMESPACE = { events: 100, bytes: 4 * 1024 * 1024 };

interface ConfirmedOptions {
  events: EventSink;
  metrics: Pick<Metrics, 'count'>;
  cluster: Pick<ClusterReader, 'get'>;
  wait(ms: number): Promise<unknown>;
  dropped(what: 'events'): void;
}

/** The pending confirmation of one write. */
interface Waiting {
  namespace: string | undefined;
  /** The memory that key, Event and fact take, by an estimate. */
  bytes: number;
  /** Whether the request was repeated after the reads began. */
  again: boolean;
}

export function createConfirmedEvents({ events, metrics, cluster, wait, dropped }: ConfirmedOptions): ConfirmedEvents {
  /**
   * Keyed by the object's uid and the Event's key, so that a forged request for another uid can't displace the real
   * one.
   */
  const waiting = new Map<string, Waiting>();

  async function confirm(event: EventRecord, fact: StoredFact, count: Count | undefined, own: Waiting): Promise<void> {
    let seen: Seen | 'unread' = 'unread';
    do {
      own.again = false;
      for (const ms of WAITS_MS) {
        await wait(ms);
        seen = await cluster.get(fact.object).then(
          (object) => seenOf(fact, object),
          () => 'unread' as const,
        );
        if (seen === 'never') return;
        if (seen === 'notYet' || seen === 'unread') continue;
        if (count) metrics.count(count);
        return events.record(event);
      }
      // The first request may have been forged, seconds before the real one.
    } while (own.again);
    if (seen === 'unread') dropped('events');
  }

  return {
    recordWhen(event, fact, count) {
      const { namespace } = fact.object;
      const key = `${fact.uid} ${event.key}`;
      const earlier = waiting.get(key);
      if (earlier) {
        earlier.again = true;
        return;
      }
      const own = { namespace, bytes: memoryBytes([key, event, fact]), again: false };
      const all = [...waiting.values(), own];
      const ofNamespace = all.filter((each) => each.namespace === namespace);
      if (exceeds(all, MOST_WAITING) || exceeds(ofNamespace, MOST_OF_NAMESPACE)) return dropped('events');
      waiting.set(key, own);
      void confirm(event, fact, count, own).finally(() => waiting.delete(key));
    },
  };
}

function exceeds(waiting: readonly Waiting[], most: typeof MOST_WAITING): boolean {
  return waiting.length > most.events || waiting.reduce((sum, { bytes }) => sum + bytes, 0) > most.bytes;
}

type Seen = 'stored' | 'notYet' | 'never';

/** Whether the object shows the fact; `never` if it is another object, as in a forged request. */
function seenOf(fact: StoredFact, object: KubeObject | undefined): Seen {
  const { uid, annotations: stored, deletionTimestamp } = object?.metadata ?? {};
  const isSame = object !== undefined && uid === fact.uid;
  if ('gone' in fact) return isSame && deletionTimestamp === undefined ? 'notYet' : 'stored';
  if (!isSame) return 'never';
  const isStored = fact.annotations.some((set) => Object.entries(set).every(([key, value]) => stored?.[key] === value));
  return isStored ? 'stored' : 'notYet';
}
