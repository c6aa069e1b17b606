/**
 * Events in the namespace of their object, the implementation of the port `EventSink`.
 * Recording returns at once and never fails; an Event that cannot be written is counted, logged and forgotten.
 * The process that writes it also sends the notification, once.
 * An existing name proves nothing: any client that may create Events may have used it. The stored Event is compared.
 */

import { createHmac } from 'node:crypto';
import { EVENT_VERSION } from '../../api/annotations.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import { EVENT_COMPONENT } from '../../api/notifications.ts';
import type { EventRecord, EventSink } from '../../api/ports.ts';
import { formatTime } from '../../core/kube/time.ts';
import { boundedText } from '../../core/text/commands.ts';
import { errorText } from '../../core/text/errorText.ts';
import { Lru } from '../lru.ts';
import { createQueue } from '../queue.ts';

const MAX_WAITING_EVENTS = 1000;
const AT_ONCE = 4;
const AT_ONCE_OF_NAMESPACE = 2;
/** The attempts take half a minute in all, in which an API server can restart: each wait is twice the last. */
const MAX_ATTEMPTS = 6;
/**
 * The wait before the only retry of Forbidden: an API server that has just started denies allowed requests for seconds.
 */
const FORBIDDEN_WAIT_MS = 5000;
/** The most names tried for one Event. */
const MAX_NAMES_TRIED = 5;
const MAX_MESSAGE_CHARACTERS = 1024;
const MAX_NAME_CHARACTERS = 253;
const TOO_MANY_WAITING = 'too many events are waiting';
/** The number of recent Events whose names are cached, so that a repeated sync costs no request. */
const MAX_RECENT_NAMES = 2000;

export interface EventsOptions {
  /** Creates a core/v1 Event. Rejects with `code` 409 when the name is taken, 0 when there was no answer. */
  create(event: StoredEvent): Promise<unknown>;
  /** The stored Event of that name; undefined if there is none. Rejects as `create` does. */
  find(name: EventName): Promise<StoredEvent | undefined>;
  /** The secret that makes names unpredictable, and the same in all replicas. */
  nameKey(): Buffer;
  /** Counts dropped Events. */
  dropped(what: 'events'): void;
  log: { warn(fields: object, message: string): void };
  /** Waits between attempts. */
  wait(ms: number): Promise<void>;
  /** Called for Events that this replica has written first, and for those that cannot be written. */
  notifier?: EventSink;
}

type EventName = Required<Pick<StoredEvent['metadata'], 'namespace' | 'name'>>;

export interface StoredEvent extends KubeObject {
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
  /** Resolves when everything recorded so far is written or dropped. */
  idle(): Promise<void>;
}

interface Item {
  record: EventRecord;
  event: StoredEvent;
}

export function createEventSink({ create, find, nameKey, dropped, log, wait, notifier }: EventsOptions): ClosableSink {
  const written = new Lru<true>(MAX_RECENT_NAMES);

  const drop = ({ record, event }: Item, why: string) => {
    written.delete(event.metadata.name!);
    dropped('events');
    const { namespace, name } = event.involvedObject;
    log.warn({ namespace, name, reason: event.reason, why }, 'event dropped');
    notifier?.record(record);
  };

  /** Writes the Event; false if another replica has. */
  async function write(record: EventRecord): Promise<boolean> {
    for (let taken = 0; taken < MAX_NAMES_TRIED; taken++) {
      const event = eventOf(record, nameKey(), taken);
      const outcome = await withRetries(() => createOnce(event, create, find), wait);
      if (outcome !== 'taken') return outcome === 'created';
      const { namespace, name } = event.involvedObject;
      const about = { namespace, name, reason: event.reason, event: event.metadata.name };
      log.warn(about, 'another Event has this name: trying the next name');
    }
    throw new Error(`other Events have taken ${MAX_NAMES_TRIED} names`);
  }

  const queue = createQueue<Item>({
    limit: MAX_WAITING_EVENTS,
    atOnce: AT_ONCE,
    lanes: {
      of: ({ event }) => event.metadata.namespace!,
      atOnce: AT_ONCE_OF_NAMESPACE,
      evicted: (item) => drop(item, TOO_MANY_WAITING),
    },
    work: async ({ record }) => {
      if (await write(record)) notifier?.record(record);
    },
    failed: (item, error) => drop(item, errorText(error)),
  });

  return {
    record(record) {
      const event = eventOf(record, nameKey());
      const name = event.metadata.name!;
      if (written.get(name)) return;
      written.set(name, true);
      if (!queue.push({ record, event })) drop({ record, event }, TOO_MANY_WAITING);
    },
    idle: () => queue.idle(),
  };
}

/**
 * `known`: the Event exists, from another replica or from before a restart. `taken`: a different Event has the name.
 */
type Outcome = 'created' | 'known' | 'taken';

async function createOnce(
  event: StoredEvent,
  create: EventsOptions['create'],
  find: EventsOptions['find'],
): Promise<Outcome> {
  try {
    await create(event);
    return 'created';
  } catch (error) {
    if (codeOf(error) !== 409) throw error;
  }
  const { namespace = '', name = '' } = event.metadata;
  const there = await find({ namespace, name });
  if (!there) throw Object.assign(new Error('the Event of this name went away'), { code: 0 });
  return isSameEvent(there, event) ? 'known' : 'taken';
}

function isSameEvent(there: StoredEvent, event: StoredEvent): boolean {
  const content = ({ involvedObject, reason, message, type, source, reportingComponent }: StoredEvent) => {
    const { kind, namespace, name, uid } = involvedObject ?? {};
    return JSON.stringify([kind, namespace, name, uid, reason, message, type, source?.component, reportingComponent]);
  };
  return content(there) === content(event);
}

async function withRetries(attempt: () => Promise<Outcome>, wait: EventsOptions['wait']): Promise<Outcome> {
  let denials = 0;
  for (let count = 1; ; count++) {
    try {
      const outcome = await attempt();
      // An earlier attempt, whose answer was lost, may have created it.
      return outcome === 'known' && count > 1 ? 'created' : outcome;
    } catch (error) {
      const code = codeOf(error);
      if (code === 403) {
        denials++;
        if (denials > 1 || isDenialOfNamespace(error)) throw error;
        await wait(FORBIDDEN_WAIT_MS);
        continue;
      }
      const isTransient = code === 0 || code === 429 || (typeof code === 'number' && code >= 500);
      if (!isTransient || count === MAX_ATTEMPTS) throw error;
      await wait(1000 * 2 ** (count - 1));
    }
  }
}

/**
 * Whether the namespace takes no Events: it is being deleted, or its quota is used up. A retry would be useless. Only
 * the message of the API server's answer shows a quota.
 */
function isDenialOfNamespace(error: unknown): boolean {
  return /\b(exceeded|failed) quota\b|because it is being terminated/.test((error as Error).message);
}

const codeOf = (error: unknown) => (error as { code?: unknown }).code;

/**
 * The Event of a record. Equal objects and keys give equal names, so that a repeat finds the first Event.
 * @param taken the number of its names that other Events have
 */
export function eventOf(record: EventRecord, nameKey: Buffer, taken = 0): StoredEvent {
  const { regarding, type, reason, message, commands, key, at, order, version } = record;
  const { apiVersion, kind, metadata } = regarding;
  const { namespace, name = '', uid, resourceVersion } = metadata;
  const hash = createHmac('sha256', nameKey)
    .update(JSON.stringify([uid ?? `${kind} ${namespace}/${name}`, key, taken]))
    .digest('hex')
    .slice(0, 20);
  const time = formatTime(at);
  // kubectl sorts Events by second, and keeps Events of one second in the API server's order: by name.
  const suffix = order ? `${order}.${hash}` : hash;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Events of cluster-scoped objects live in `default`.
    metadata: {
      name: `${name.slice(0, MAX_NAME_CHARACTERS - 1 - suffix.length).replace(/[^a-z0-9]+$/, '')}.${suffix}`,
      namespace: namespace ?? 'default',
      ...(version && { annotations: { [EVENT_VERSION]: version } }),
    },
    involvedObject: {
      apiVersion,
      kind,
      name,
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
    },
    reason,
    message: boundedText({ text: message, ...(commands && { commands }) }, MAX_MESSAGE_CHARACTERS),
    type,
    source: { component: EVENT_COMPONENT },
    reportingComponent: EVENT_COMPONENT,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}

/** A sink that records each Event in all of these sinks. */
export function everySink(...sinks: EventSink[]): EventSink {
  return {
    record(event) {
      for (const sink of sinks) sink.record(event);
    },
  };
}
