/**
 * The only sender of notifications, through Flux's notification-controller (`--events-addr` of Flux's controllers).
 * Sending returns at once and never fails. If notification-controller hangs, is slow or is down, messages are lost and
 * counted, without any other effect.
 */

import { KINDS } from '../../api/kinds.ts';
import type { NamespacedName, ObjectName } from '../../api/kubernetes.ts';
import type { EventRecord } from '../../api/ports.ts';
import { errorText } from '../../core/text/errorText.ts';
import { createQueue } from '../queue.ts';
import type { ClosableSink } from './eventSink.ts';
import { type FluxEvent, fluxEventOf, isReported, ownObject } from './fluxEvent.ts';

const MAX_WAITING_RECORDS = 200;
const AT_ONCE = 4;
const AT_ONCE_OF_NAMESPACE = 2;
const TOO_MANY_WAITING = 'too many notifications are waiting';
const TIMEOUT_MS = 3000;
const MAX_ATTEMPTS = 4;
/** The maximum age of a record. Later, the news is useless, and notification-controller no longer detects a repeat. */
const MAX_AGE_MS = 5 * 60_000;

interface NotificationOptions {
  /** `http://notification-controller.flux-system.svc.cluster.local./` */
  address: string;
  instance: string;
  /** Returns the Flux objects that report a Rollout's Events. */
  reportingObjects(rollout: NamespacedName): Promise<readonly ObjectName[]>;
  dropped(what: 'notifications'): void;
  log: { warn(fields: object, message: string): void };
  now(): number;
  wait(ms: number): Promise<void>;
  timeoutMs?: number;
}

export function createNotifier(options: NotificationOptions): ClosableSink {
  const drop = ({ regarding, reason }: EventRecord, why: string) => {
    options.dropped('notifications');
    const { namespace, name } = regarding.metadata;
    options.log.warn({ namespace, name, reason, why }, 'notification dropped');
  };
  const queue = createQueue<EventRecord>({
    limit: MAX_WAITING_RECORDS,
    atOnce: AT_ONCE,
    lanes: {
      of: ({ regarding }) => regarding.metadata.namespace ?? '',
      atOnce: AT_ONCE_OF_NAMESPACE,
      evicted: (record) => drop(record, TOO_MANY_WAITING),
    },
    work: (record) => notify(record, options),
    failed: (record, error) => drop(record, errorText(error)),
  });
  return {
    record(record) {
      if (isReported(record) && !queue.push(record)) drop(record, TOO_MANY_WAITING);
    },
    idle: () => queue.idle(),
  };
}

async function notify(record: EventRecord, options: NotificationOptions): Promise<void> {
  if (options.now() - record.at > MAX_AGE_MS) throw new Error('it has waited for too long');
  for (const object of await reportingObjectsOf(record, options)) {
    const event = fluxEventOf(record, object, options.instance);
    if (event) await post(event, options);
  }
}

/** The objects that report a record: its own object and its involved objects. */
async function reportingObjectsOf(record: EventRecord, options: NotificationOptions): Promise<ObjectName[]> {
  const own = ownObject(record);
  const involvedObjects = [...own.filter(isRollout), ...(record.involvedObjects ?? [])];
  const found = await Promise.all(
    involvedObjects.map((each) => (isRollout(each) ? options.reportingObjects(each) : [each])),
  );
  return [...own, ...found.flat()];
}

const isRollout = ({ kind }: ObjectName) => kind === KINDS.Rollout.kind;

/** Sends an event. Like Flux's controllers, it retries after a failed connection or a server error. */
async function post(event: FluxEvent, options: NotificationOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const status = await statusOf(event, options);
    // 429: notification-controller has had this event already.
    if ((status >= 200 && status < 300) || status === 429) return;
    const isTransient = status === 0 || status >= 500;
    if (!isTransient || attempt === MAX_ATTEMPTS) {
      throw new Error(`notification-controller ${status === 0 ? 'does not answer' : `answered ${status}`}`);
    }
    await options.wait(1000 * 2 ** (attempt - 1));
  }
}

/** The HTTP status of the answer; 0 without an answer. */
async function statusOf(event: FluxEvent, { address, timeoutMs = TIMEOUT_MS }: NotificationOptions): Promise<number> {
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return 0;
  }
}
