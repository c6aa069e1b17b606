/** New records of objects, as CloudEvents. Each change of a watched object is compared with its previous records. */
import { KINDS, resourceOf } from '../api/kinds.ts';
import type { EpochMs, KubeObject } from '../api/kubernetes.ts';
import { EVENT_COMPONENT } from '../api/notifications.ts';
import type { ResourceRef } from '../api/ports.ts';
import type { AuditRecord } from '../core/audit/auditRecord.ts';
import { type CloudEvent, cloudEventOf, gapEventOf } from '../core/audit/cloudEvent.ts';
import { type CoreEvent, recordsOfEvent } from '../core/audit/eventRecords.ts';
import { AUDITED_KINDS, recordsOfObject } from '../core/audit/objectRecords.ts';
import { identityOf, refKey } from '../core/kube/names.ts';

type WatchedObject = KubeObject<any, any>;

type Watched = Pick<ResourceRef, 'apiVersion' | 'resource'> & { kind: string; fieldSelector?: string };

const EVENT = 'Event';

/** The watched kinds. Of Events, only those about withdrawn approvals, which no object records. */
export const WATCHED: readonly Watched[] = [
  ...AUDITED_KINDS.map((kind) => ({ kind, ...resourceOf(KINDS[kind]) })),
  {
    kind: EVENT,
    apiVersion: 'v1',
    resource: 'events',
    fieldSelector: `reason=ApprovalWithdrawn,source=${EVENT_COMPONENT}`,
  },
];

export type KindChange =
  /** All objects of the kind: at the start, and when a watch could not continue. */
  { type: 'all'; items: readonly WatchedObject[] } | { type: 'set' | 'gone'; object: WatchedObject };

interface AuditStreamOptions {
  /** The cluster's name: a URI reference. */
  source: string;
  now(): EpochMs;
  /** Resolves when the event is in the queue. A full queue keeps the watch waiting. */
  send(event: CloudEvent): Promise<void>;
  /** Counts a gap. */
  missed(): void;
}

export class AuditStream {
  readonly #options: AuditStreamOptions;
  /** Ids of the records of each object. */
  readonly #idsByObject = new Map<string, readonly string[]>();
  /** The number of objects that have each record. */
  readonly #objectsById = new Map<string, number>();
  /** The time of each kind's last change. */
  readonly #changedAt = new Map<string, EpochMs>();

  constructor(options: AuditStreamOptions) {
    this.#options = options;
  }

  /** Sends the new records of a change. */
  async take(kind: string, change: KindChange): Promise<void> {
    const { now, send, source, missed } = this.#options;
    const before = this.#changedAt.get(kind);
    this.#changedAt.set(kind, now());
    for (const event of oldestFirst(this.#newEvents(kind, change))) await send(event);
    if (change.type !== 'all') return;
    missed();
    await send(gapEventOf({ kind, ...(before !== undefined && { from: before }), to: now() }, source));
  }

  #newEvents(kind: string, change: KindChange): CloudEvent[] {
    if (change.type !== 'all') {
      const { type, object } = change;
      return this.#store(keyOf(kind, object), type === 'set' ? this.#recordsOf(kind, object) : []);
    }
    const there = new Set(change.items.map((object) => keyOf(kind, object)));
    for (const key of this.#idsByObject.keys()) {
      if (key.startsWith(`${kind} `) && !there.has(key)) this.#store(key, []);
    }
    return change.items.flatMap((object) => this.#store(keyOf(kind, object), this.#recordsOf(kind, object)));
  }

  #recordsOf(kind: string, object: WatchedObject): AuditRecord[] {
    if (kind === EVENT) return recordsOfEvent(object as CoreEvent);
    return recordsOfObject({ ...object, kind }, this.#options.now());
  }

  /** Stores the records of an object, and returns the events of those that no object had. */
  #store(key: string, records: readonly AuditRecord[]): CloudEvent[] {
    const events = new Map(
      records.map((record) => cloudEventOf(record, this.#options.source)).map((event) => [event.id, event]),
    );
    const fresh = [...events.values()].filter(({ id }) => !this.#objectsById.has(id));
    for (const id of events.keys()) this.#objectsById.set(id, (this.#objectsById.get(id) ?? 0) + 1);
    for (const id of this.#idsByObject.get(key) ?? []) {
      const others = this.#objectsById.get(id)! - 1;
      if (others > 0) this.#objectsById.set(id, others);
      else this.#objectsById.delete(id);
    }
    if (events.size > 0) this.#idsByObject.set(key, [...events.keys()]);
    else this.#idsByObject.delete(key);
    return fresh;
  }
}

/** The events, oldest first. Those of one second are reversed, because a history begins with the newest deployment. */
function oldestFirst(events: readonly CloudEvent[]): CloudEvent[] {
  return events.toReversed().sort((a, b) => a.time.localeCompare(b.time));
}

function keyOf(kind: string, object: WatchedObject): string {
  return `${kind} ${refKey(identityOf(object))}`;
}
