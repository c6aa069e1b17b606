/**
 * Events about what a write has stored, the implementation of the port `ConfirmedEvents`.
 * An admission request proves nothing: any client may send one, and an allowed write may still fail. So the cluster is
 * read until it shows the write.
 */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ClusterReader, ConfirmedEvents, EventRecord, EventSink, StoredFact } from '../../api/ports.ts';

/** Before each read, from the answer on: the API server stores the object only after it. */
const WAITS_MS = [200, 1000, 5000];
const MAX_WAITING_EVENTS = 1000;

interface ConfirmedOptions {
  events: EventSink;
  cluster: Pick<ClusterReader, 'get'>;
  wait(ms: number): Promise<unknown>;
  dropped(what: 'events'): void;
}

export function createConfirmedEvents({ events, cluster, wait, dropped }: ConfirmedOptions): ConfirmedEvents {
  const waiting = new Set<string>();

  async function confirm(event: EventRecord, fact: StoredFact): Promise<void> {
    let seen: boolean | 'unread' = 'unread';
    for (const ms of WAITS_MS) {
      await wait(ms);
      seen = await cluster.get(fact.object).then(
        (object) => isStored(fact, object),
        () => 'unread' as const,
      );
      if (seen === true) return events.record(event);
    }
    if (seen === 'unread') dropped('events');
  }

  return {
    recordWhen(event, fact) {
      if (waiting.has(event.key)) return;
      if (waiting.size >= MAX_WAITING_EVENTS) return dropped('events');
      waiting.add(event.key);
      void confirm(event, fact).finally(() => waiting.delete(event.key));
    },
  };
}

/** Whether the cluster's object, or its absence, is that of the fact. */
function isStored(fact: StoredFact, object: KubeObject | undefined): boolean {
  if ('gone' in fact) return object?.metadata.uid !== fact.uid || object?.metadata.deletionTimestamp !== undefined;
  const stored = object?.metadata.annotations;
  return fact.annotations.some((set) => Object.entries(set).every(([key, value]) => stored?.[key] === value));
}
