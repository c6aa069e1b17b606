/**
 * Events about stored writes, the implementation of the port `ConfirmedEvents`. An admission request proves no write:
 * any client may send one, and an allowed write may still fail. So the cluster is read until it shows the write.
 */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Count } from '../../api/metrics.ts';
import type { ClusterReader, ConfirmedEvents, EventRecord, EventSink, Metrics, StoredFact } from '../../api/ports.ts';

/** The wait before each read. The API server stores the object only after our answer. */
const WAITS_MS = [200, 1000, 5000];
const MAX_WAITING_EVENTS = 1000;
/** Requests about objects of one namespace must not displace the Events of others. */
const MAX_WAITING_OF_NAMESPACE = 100;

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
  /** Whether the request was repeated after the reads began. */
  again: boolean;
}

export function createConfirmedEvents({ events, metrics, cluster, wait, dropped }: ConfirmedOptions): ConfirmedEvents {
  /**
   * Keyed by the object's uid and the Event's key, so that a forged request for another uid can't displace the real
   * one.
   */
  const waiting = new Map<string, Waiting>();
  const waitingOf = (namespace: string | undefined) =>
    [...waiting.values()].filter((each) => each.namespace === namespace).length;

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
      if (waiting.size >= MAX_WAITING_EVENTS || waitingOf(namespace) >= MAX_WAITING_OF_NAMESPACE) {
        return dropped('events');
      }
      const own = { namespace, again: false };
      waiting.set(key, own);
      void confirm(event, fact, count, own).finally(() => waiting.delete(key));
    },
  };
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
