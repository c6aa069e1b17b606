/** The approvals given on a Gate or RolloutGate, as the webhook keeps them: the JSON text of an annotation that only it writes. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';

export interface Approval {
  version: string;
  /** `namespace/name` of the Rollout whose version it is, on a Gate; a RolloutGate has only one. */
  rollout?: string;
  /** The uid of that Rollout: a new one of its name, perhaps another user's, has no approvals. */
  uid?: string;
  /** The authenticated user. */
  by: string;
  /** When it arrived, in whole seconds. */
  at: EpochMs;
  reason?: string;
}

/** A field of the spec that was changed, and its values as text; none where it is absent or empty. */
export interface FieldChange {
  /** From the spec: `approvals.required`. */
  path: string;
  from?: string;
  to?: string;
}

/** One change of who has to approve. */
export interface RuleChange {
  /** From 1, and one more than that of the change before. */
  number: number;
  /** The authenticated user. */
  by: string;
  at: EpochMs;
  fields: FieldChange[];
  /** How many approvals there were: `1/2 for 1.2.0`. */
  progress?: string;
}

export interface ApprovalRecord {
  /** In the order in which they arrived. */
  given: Approval[];
  /** The last ones, in their order. */
  changes: RuleChange[];
}

/** The longest user name that may approve, and what is kept of a reason. */
export const MAX_USER = 256;
export const MAX_REASON = 256;

/** Longer than any record of ours: 64 approvals with the longest names and reasons in the widest script. */
const MAX_LENGTH = 196_608;

/** The text of a record, equal for equal records; undefined where there is nothing to keep. */
export function formatApprovals({ given, changes }: ApprovalRecord): string | undefined {
  if (given.length === 0 && changes.length === 0) return undefined;
  return JSON.stringify({
    given: given.map(({ version, rollout, uid, by, at, reason }) => ({
      version,
      rollout,
      uid,
      by,
      at: formatTime(at),
      reason,
    })),
    ...(changes.length > 0 && { changes: changes.map((change) => ({ ...change, at: formatTime(change.at) })) }),
  });
}

/** The entries of a record; an entry that the webhook didn't write counts as none. */
export function parseApprovals(text: string | undefined): ApprovalRecord {
  if (!text || text.length > MAX_LENGTH) return { given: [], changes: [] };
  try {
    const { given, changes = [] } = JSON.parse(text);
    return { given: given.flatMap(approvalOf).slice(-LIMITS.approvals), changes: changes.flatMap(changeOf) };
  } catch {
    return { given: [], changes: [] };
  }
}

/** Free text, for conditions and Events. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
}

function approvalOf(value: Record<string, unknown> | null): Approval[] {
  const { version, rollout, uid, by, at, reason } = value ?? {};
  const time = parseTime(typeof at === 'string' ? at : undefined);
  if (typeof version !== 'string' || typeof by !== 'string' || time === undefined) return [];
  return [
    {
      version,
      ...(typeof rollout === 'string' && { rollout }),
      ...(typeof uid === 'string' && { uid }),
      by,
      at: time,
      ...(typeof reason === 'string' && { reason }),
    },
  ];
}

function changeOf(value: Record<string, unknown> | null): RuleChange[] {
  const { number, by, at, fields, progress } = value ?? {};
  const time = parseTime(typeof at === 'string' ? at : undefined);
  if (typeof number !== 'number' || typeof by !== 'string' || time === undefined || !Array.isArray(fields)) return [];
  return [{ number, by, at: time, fields: fields.flatMap(fieldOf), ...(typeof progress === 'string' && { progress }) }];
}

function fieldOf(value: Record<string, unknown> | null): FieldChange[] {
  const { path, from, to } = value ?? {};
  if (typeof path !== 'string') return [];
  return [{ path, ...(typeof from === 'string' && { from }), ...(typeof to === 'string' && { to }) }];
}
