/**
 * Events in the namespace of their object, the implementation of the port `EventSink`. Recording returns at once and
 * never fails; an Event that cannot be written is counted, logged and forgotten. Whoever writes it also tells people of it, once.
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { EventRecord, EventSink } from '../../api/ports.ts';
import { formatTime } from '../../core/kube/time.ts';
import { oneLine } from '../../core/text/oneLine.ts';
import { createQueue } from '../queue.ts';

/** What clients of kuberik's rollout-controller filter Events by. */
export const COMPONENT = 'rollout-controller';

const MAX_WAITING = 1000;
const AT_ONCE = 4;
/** Half a minute in all, each wait twice the last: an API server restarts in that time. */
const ATTEMPTS = 6;
const MAX_MESSAGE = 1024;
const MAX_NAME = 253;
/** Names of recent Events: a repeated sync costs no request. */
const MAX_REMEMBERED = 2000;

export interface EventsOptions {
  /** Creates a core/v1 Event. Rejects with `code` 409 when the name is taken, 0 when there was no answer. */
  create(event: CoreEvent): Promise<unknown>;
  /** Counts what is given up, by kind. */
  dropped(what: 'events'): void;
  log: { warn(fields: object, message: string): void };
  /** Waits between attempts. */
  wait(ms: number): Promise<void>;
  /** Is told of what this replica has written and no other before it, and of what cannot be written. */
  people?: EventSink;
}

export interface CoreEvent extends KubeObject {
  involvedObject: {
    apiVersion: string;
    kind: string;
    namespace?: string;
    name: string;
    uid?: string;
    resourceVersion?: string;
  };
  reason: string;
  message: string;
  type: 'Normal' | 'Warning';
  source: { component: string };
  reportingComponent: string;
  firstTimestamp: string;
  lastTimestamp: string;
  count: number;
}

export interface ClosableSink extends EventSink {
  /** Resolves when everything recorded so far is written or given up. */
  idle(): Promise<void>;
}

interface Item {
  record: EventRecord;
  event: CoreEvent;
}

export function createEventSink({ create, dropped, log, wait, people }: EventsOptions): ClosableSink {
  const written = new Set<string>();

  const giveUp = ({ record, event }: Item, why: string) => {
    written.delete(event.metadata.name!);
    dropped('events');
    const { namespace, name } = event.involvedObject;
    log.warn({ namespace, name, reason: event.reason, why }, 'event dropped');
    people?.record(record);
  };

  const queue = createQueue<Item>({
    limit: MAX_WAITING,
    atOnce: AT_ONCE,
    work: async ({ record, event }) => {
      if (await createWithPatience(event, create, wait)) people?.record(record);
    },
    failed: (item, error) => giveUp(item, error instanceof Error ? error.message : String(error)),
  });

  return {
    record(record) {
      const event = eventOf(record);
      const name = event.metadata.name!;
      if (written.has(name)) return;
      written.add(name);
      if (written.size > MAX_REMEMBERED) written.delete(written.values().next().value!);
      if (!queue.push({ record, event })) giveUp({ record, event }, 'too many events are waiting');
    },
    idle: () => queue.idle(),
  };
}

/** Whether it is new. */
async function createWithPatience(
  event: CoreEvent,
  create: EventsOptions['create'],
  wait: EventsOptions['wait'],
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await create(event);
      return true;
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      // Recorded by another replica, or by this one before a restart; or by an attempt whose answer was lost.
      if (code === 409) return attempt > 1;
      // An API server that has just started forbids what it will allow: it has not read the roles yet.
      const passing = code === 0 || code === 403 || code === 429 || (typeof code === 'number' && code >= 500);
      if (!passing || attempt === ATTEMPTS) throw error;
      await wait(1000 * 2 ** (attempt - 1));
    }
  }
}

/** The same object and key always give the same name, so that a repeat meets the first one. */
export function eventOf({ regarding, type, reason, message, key, at, order }: EventRecord): CoreEvent {
  const { apiVersion, kind, metadata } = regarding;
  const { namespace, name = '', uid, resourceVersion } = metadata;
  const hash = createHash('sha256')
    .update(`${uid ?? `${kind} ${namespace}/${name}`}\n${key}`)
    .digest('hex')
    .slice(0, 20);
  const time = formatTime(at);
  // kubectl sorts by seconds, and leaves those of one second as the API server lists them: by name.
  const suffix = order ? `${order}.${hash}` : hash;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Events of cluster-scoped objects live in `default`.
    metadata: { name: `${name.slice(0, MAX_NAME - 1 - suffix.length)}.${suffix}`, namespace: namespace ?? 'default' },
    involvedObject: {
      apiVersion,
      kind,
      name,
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
    },
    reason,
    message: oneLine(message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 1)}…`),
    type,
    source: { component: COMPONENT },
    reportingComponent: COMPONENT,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}

/** One sink for several. */
export function everySink(...sinks: EventSink[]): EventSink {
  return {
    record(event) {
      for (const sink of sinks) sink.record(event);
    },
  };
}
