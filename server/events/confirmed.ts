/**
 * Events about what a write has stored, the implementation of the port `ConfirmedEvents`.
 * An admission request is only a question: anybody may ask it, and what was allowed may fail later.
 * So the cluster is read until it confirms the write.
 */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ClusterReader, ConfirmedEvents, EventRecord, EventSink, StoredFact } from '../../api/ports.ts';

/** After the answer to the request: only then does the API server store the object. */
const ATTEMPTS_MS = [200, 1000, 5000];
const MAX_WAITING = 1000;

interface ConfirmedOptions {
  events: EventSink;
  cluster: Pick<ClusterReader, 'get'>;
  wait(ms: number): Promise<unknown>;
  dropped(what: 'events'): void;
}

export function createConfirmedEvents({ events, cluster, wait, dropped }: ConfirmedOptions): ConfirmedEvents {
  const waiting = new Set<string>();

  async function confirm(event: EventRecord, fact: StoredFact): Promise<void> {
    for (const ms of ATTEMPTS_MS) {
      await wait(ms);
      const seen = await cluster.get(fact.object).then(
        (object) => isTrue(fact, object),
        () => false,
      );
      if (seen) return events.record(event);
    }
  }

  return {
    recordWhen(event, fact) {
      if (waiting.has(event.key)) return;
      if (waiting.size >= MAX_WAITING) return dropped('events');
      waiting.add(event.key);
      void confirm(event, fact).finally(() => waiting.delete(event.key));
    },
  };
}

function isTrue(fact: StoredFact, object: KubeObject | undefined): boolean {
  if ('gone' in fact) return object?.metadata.uid !== fact.uid || object?.metadata.deletionTimestamp !== undefined;
  return Object.entries(fact.annotations).every(([key, value]) => object?.metadata.annotations?.[key] === value);
}
