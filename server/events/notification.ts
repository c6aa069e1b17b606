/**
 * Notifications by way of Flux's notification-controller (`--events-addr` of Flux's controllers): the one sender.
 * Sending returns at once and never fails. If notification-controller hangs, is slow or is down, messages are lost and
 * counted, without any other effect.
 */

import { KINDS } from '../../api/kinds.ts';
import type { NamespacedName, ObjectName } from '../../api/kubernetes.ts';
import type { EventRecord } from '../../api/ports.ts';
import { createQueue } from '../queue.ts';
import { type FluxEvent, fluxEventOf, isReported, itself } from './fluxEvent.ts';
import type { ClosableSink } from './sink.ts';

const MAX_WAITING = 200;
const AT_ONCE = 2;
const TIMEOUT_MS = 3000;
const ATTEMPTS = 4;
/**
 * News of a gate that closed long ago is useless; and later, notification-controller would no longer detect the repeat.
 */
const MAX_AGE_MS = 5 * 60_000;

interface NotificationOptions {
  /** `http://notification-controller.flux-system.svc.cluster.local./` */
  address: string;
  instance: string;
  /** The Flux objects that report a Rollout. */
  reportingObjects(rollout: NamespacedName): Promise<readonly ObjectName[]>;
  dropped(what: 'notifications'): void;
  log: { warn(fields: object, message: string): void };
  now(): number;
  wait(ms: number): Promise<void>;
  timeoutMs?: number;
}

export function createNotifier(options: NotificationOptions): ClosableSink {
  const giveUp = ({ regarding, reason }: EventRecord, why: string) => {
    options.dropped('notifications');
    const { namespace, name } = regarding.metadata;
    options.log.warn({ namespace, name, reason, why }, 'notification dropped');
  };
  const queue = createQueue<EventRecord>({
    limit: MAX_WAITING,
    atOnce: AT_ONCE,
    work: (record) => tell(record, options),
    failed: (record, error) => giveUp(record, error instanceof Error ? error.message : String(error)),
  });
  return {
    record(record) {
      if (isReported(record) && !queue.push(record)) giveUp(record, 'too many notifications are waiting');
    },
    idle: () => queue.idle(),
  };
}

async function tell(record: EventRecord, options: NotificationOptions): Promise<void> {
  if (options.now() - record.at > MAX_AGE_MS) throw new Error('it has waited for too long');
  for (const object of await speakersOf(record, options)) {
    const event = fluxEventOf(record, object, options.instance);
    if (event) await post(event, options);
  }
}

/** The object itself, and its involved objects. */
async function speakersOf(record: EventRecord, options: NotificationOptions): Promise<ObjectName[]> {
  const own = itself(record);
  const involvedObjects = [...own.filter(isRollout), ...(record.involvedObjects ?? [])];
  const found = await Promise.all(
    involvedObjects.map((each) => (isRollout(each) ? options.reportingObjects(each) : [each])),
  );
  return [...own, ...found.flat()];
}

const isRollout = ({ kind }: ObjectName) => kind === KINDS.Rollout.kind;

/** As Flux's controllers do, a failed connection and a server's error are tried again. */
async function post(event: FluxEvent, options: NotificationOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const status = await statusOf(event, options);
    // 429: notification-controller has had this event already.
    if ((status >= 200 && status < 300) || status === 429) return;
    const isTransient = status === 0 || status >= 500;
    if (!isTransient || attempt === ATTEMPTS) {
      throw new Error(`notification-controller ${status === 0 ? 'does not answer' : `answered ${status}`}`);
    }
    await options.wait(1000 * 2 ** (attempt - 1));
  }
}

/** 0: no answer. */
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
