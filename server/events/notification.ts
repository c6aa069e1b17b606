/**
 * The same events for Flux's notification-controller (`--events-addr`), as events of the Flux objects that are bound to
 * the Rollout: existing Alerts on these report its deployments. When notification-controller is down, only the message is lost.
 */
import { createHash } from 'node:crypto';
import { NOTIFIED_KINDS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { EventRecord, EventSink } from '../../api/ports.ts';
import { formatTime } from '../../core/kube/time.ts';
import { createQueue } from '../queue.ts';
import { type ClosableSink, COMPONENT } from './sink.ts';

const MAX_WAITING = 200;
const AT_ONCE = 2;
const TIMEOUT_MS = 3000;
/** The limit of Flux's schema. */
const MAX_MESSAGE = 39_000;
/** The kinds whose Alerts get events from here. */
const NOTIFIED = new Set<string>(NOTIFIED_KINDS.map(({ kind }) => kind));

export interface FluxReference {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid?: string;
}

/** event.toolkit.fluxcd.io/v1beta1 */
export interface FluxEvent {
  involvedObject: FluxReference;
  severity: 'info' | 'error';
  timestamp: string;
  message: string;
  reason: string;
  metadata: Record<string, string>;
  reportingController: string;
  reportingInstance: string;
}

export interface NotificationOptions {
  /** `http://notification-controller.flux-system.svc.cluster.local./` */
  address: string;
  instance: string;
  /** The Flux objects bound to a Rollout. */
  boundObjects(rollout: NamespacedName): Promise<FluxReference[]>;
  dropped(what: 'notifications'): void;
  log: { debug(fields: object, message: string): void };
  timeoutMs?: number;
}

export function createNotifier(options: NotificationOptions): ClosableSink {
  const giveUp = ({ regarding, reason }: EventRecord, why: string) => {
    options.dropped('notifications');
    const { namespace, name } = regarding.metadata;
    options.log.debug({ namespace, name, reason, why }, 'notification dropped');
  };
  const queue = createQueue<EventRecord>({
    limit: MAX_WAITING,
    atOnce: AT_ONCE,
    work: (record) => tell(record, options),
    failed: (record, error) => giveUp(record, error instanceof Error ? error.message : String(error)),
  });
  return {
    record(record) {
      if (!queue.push(record)) giveUp(record, 'too many notifications are waiting');
    },
    idle: () => queue.idle(),
  };
}

async function tell(record: EventRecord, options: NotificationOptions): Promise<void> {
  for (const object of await objectsOf(record, options)) {
    const response = await fetch(options.address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fluxEventOf(record, object, options.instance)),
      redirect: 'error',
      signal: AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS),
    });
    await response.body?.cancel();
    // 429: notification-controller has had this event already.
    if (!response.ok && response.status !== 429) throw new Error(`notification-controller answered ${response.status}`);
  }
}

async function objectsOf({ regarding }: EventRecord, options: NotificationOptions): Promise<FluxReference[]> {
  const { apiVersion, kind, metadata } = regarding;
  const { namespace = '', name = '', uid } = metadata;
  if (kind === 'Rollout') return (await options.boundObjects({ namespace, name })).filter((o) => NOTIFIED.has(o.kind));
  return NOTIFIED.has(kind) ? [{ apiVersion, kind, namespace, name, ...(uid && { uid }) }] : [];
}

/** Metadata keys need the group of the object, or notification-controller drops them. */
export function fluxEventOf(record: EventRecord, object: FluxReference, instance: string): FluxEvent {
  const { regarding, type, reason, message, key, at } = record;
  const group = object.apiVersion.split('/')[0];
  return {
    involvedObject: object,
    severity: type === 'Warning' ? 'error' : 'info',
    timestamp: formatTime(at),
    message: message.slice(0, MAX_MESSAGE),
    reason,
    metadata: {
      ...(regarding.kind === 'Rollout' && { [`${group}/rollout`]: regarding.metadata.name ?? '' }),
      // Two events with the same text would count as one within five minutes.
      [`${group}/token`]: createHash('sha256').update(key).digest('hex').slice(0, 16),
    },
    reportingController: COMPONENT,
    reportingInstance: instance,
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
