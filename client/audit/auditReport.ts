/** The report for an auditor: the records of several sources, each act once, and the gaps of the sources. */
import type { EpochMs, ObjectName } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import type { AuditRecord, AuditSource } from '../../core/audit/auditRecord.ts';
import { refOf } from '../../core/audit/objectRecords.ts';
import { parseTime } from '../../core/kube/time.ts';

/** A gap of the sources. The report lists gaps, because a missing record would look like "nothing happened". */
export type AuditGap =
  /** A history that begins after `since`: older entries were dropped. */
  | { kind: 'HistoryBegins'; object: ObjectName; at: string }
  /** No audit log: objects keep only the newest requests, approvals and changes, and none that were withdrawn. */
  | { kind: 'NoAuditLog' }
  | { kind: 'AuditLogBegins'; at: string }
  | { kind: 'AuditLogEmpty' }
  /** Writes that the audit policy logged without their content. */
  | { kind: 'WritesWithoutContent'; count: number }
  /** JSON patches that copy or move values which the log lacks. */
  | { kind: 'UnclearPatches'; count: number }
  | { kind: 'UnreadableLines'; count: number }
  /** The first Event is newer than `since`: by default the API server keeps Events for an hour. */
  | { kind: 'EventsBegin'; at?: string }
  /** Kinds that the reader can't list. */
  | { kind: 'NotRead'; what: string; why: string };

export interface AuditReport {
  /** Records, oldest first. */
  records: AuditRecord[];
  gaps: AuditGap[];
}

/**
 * The largest difference between the times of one act in two sources: the webhook takes the time at admission, a hook
 * at its sync, and Flux's clock may differ.
 */
const SAME_ACT_MS = 5000;

/** The records from `since` on, oldest first, each act once with all of its sources. Linear except for sorting. */
export function mergeRecords(records: readonly AuditRecord[], since: EpochMs): AuditRecord[] {
  const timed = records.flatMap((record) => {
    const at = parseTime(record.time);
    return at === undefined || at < since ? [] : [{ record, at }];
  });
  // A source that names the user comes first, so that one which doesn't is merged into it.
  timed.sort((a, b) => a.at - b.at || rank(a.record) - rank(b.record) || (keyOf(a.record) < keyOf(b.record) ? -1 : 1));
  const merged: { record: AuditRecord; at: EpochMs }[] = [];
  const newest = new Map<string, { record: AuditRecord; at: EpochMs }[]>();
  for (const each of timed) {
    const recent = (newest.get(keyOf(each.record)) ?? []).filter(({ at }) => each.at - at <= SAME_ACT_MS);
    const same = recent.find(({ record }) => isSameAct(record, each.record));
    if (same) {
      // The text of an Event repeats the user and the reason, which the other source has.
      const { detail, ...added } = each.record;
      const isEvent = each.record.sources.includes('Event');
      same.record = {
        ...(isEvent ? added : each.record),
        ...same.record,
        sources: union(same.record.sources, each.record.sources),
      };
    } else {
      merged.push(each);
      recent.push(each);
    }
    newest.set(keyOf(each.record), recent);
  }
  return merged.map(({ record }) => record);
}

function keyOf({ action, object }: AuditRecord): string {
  return JSON.stringify([action, object.kind, object.namespace, object.name]);
}

function rank({ user, sources }: AuditRecord): number {
  return sources.includes('Event') ? 2 : user === undefined ? 1 : 0;
}

/** Whether two records may be of one act: of one user and version, but not of one source at different times. */
function isSameAct(a: AuditRecord, b: AuditRecord): boolean {
  const isSameUser = a.user === undefined || b.user === undefined || a.user === b.user;
  if (!isSameUser || !isSameVersion(a.version, b.version)) return false;
  return a.time === b.time || !b.sources.some((source) => a.sources.includes(source));
}

/** Whether two texts may be one version: `1.2.0` and `shop/web:1.2.0`. */
function isSameVersion(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b || a.endsWith(`:${b}`) || b.endsWith(`:${a}`);
}

function union(a: readonly AuditSource[], b: readonly AuditSource[]): AuditSource[] {
  return [...a, ...b.filter((source) => !a.includes(source))];
}

/** The gap of a Rollout that is older than `since`, while its history is not. */
export function historyGap(rollout: Rollout, since: EpochMs): AuditGap[] {
  const oldest = rollout.status?.history?.at(-1);
  const at = parseTime(oldest?.timestamp);
  // The first deployment of a Rollout has the id 1: nothing was dropped before it.
  if (!oldest || at === undefined || at <= since || (oldest.id ?? 1) <= 1) return [];
  return [{ kind: 'HistoryBegins', object: refOf(rollout), at: oldest.timestamp }];
}
