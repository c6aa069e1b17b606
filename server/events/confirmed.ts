/**
 * Events about what a write has stored, the implementation of the port `ConfirmedEvents`.
 * An admission request proves nothing: any client may send one, and an allowed write may still fail. So the cluster is
 * read until it shows the write.
 */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Count } from '../../api/metrics.ts';
import type { ClusterReader, ConfirmedEvents, EventRecord, EventSink, Metrics, StoredFact } from '../../api/ports.ts';

/** Before each read, from the answer on: the API server stores the object only after it. */
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

export function createConfirmedEvents({ events, metrics, cluster, wait, dropped }: ConfirmedOptions): ConfirmedEvents {
  /** The namespace of each, by the Event's key. */
  const waiting = new Map<string, string | undefined>();
  const waitingOf = (namespace: string | undefined) =>
    [...waiting.values()].filter((each) => each === namespace).length;

  async function confirm(event: EventRecord, fact: StoredFact, count: Count | undefined): Promise<void> {
    let seen: Seen | 'unread' = 'unread';
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
    if (seen === 'unread') dropped('events');
  }

  return {
    recordWhen(event, fact, count) {
      const { namespace } = fact.object;
      if (waiting.has(event.key)) return;
      if (waiting.size >= MAX_WAITING_EVENTS || waitingOf(namespace) >= MAX_WAITING_OF_NAMESPACE) {
        return dropped('events');
      }
      waiting.set(event.key, namespace);
      void confirm(event, fact, count).finally(() => waiting.delete(event.key));
    },
  };
}

type Seen = 'stored' | 'notYet' | 'never';

/** What the object shows of the fact; `never` if it is another object, as in a request that no API server has sent. */
function seenOf(fact: StoredFact, object: KubeObject | undefined): Seen {
  const { uid, annotations: stored, deletionTimestamp } = object?.metadata ?? {};
  const isSame = object !== undefined && uid === fact.uid;
  if ('gone' in fact) return isSame && deletionTimestamp === undefined ? 'notYet' : 'stored';
  if (!isSame) return 'never';
  const isStored = fact.annotations.some((set) => Object.entries(set).every(([key, value]) => stored?.[key] === value));
  return isStored ? 'stored' : 'notYet';
}
