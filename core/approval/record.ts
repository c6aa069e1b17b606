/** The approvals given on a Gate or RolloutGate, as the webhook keeps them: the JSON text of an annotation that only it writes. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';

export interface Approval {
  version: string;
  /** `namespace/name` of the Rollout whose version it is, on a Gate; a RolloutGate has only one. */
  rollout?: string;
  /** The authenticated user. */
  by: string;
  /** When it arrived, in whole seconds. */
  at: EpochMs;
  reason?: string;
}

/** Who last changed how many approvals are needed. 0: none. */
export interface RuleChange {
  by: string;
  at: EpochMs;
  from: number;
  to: number;
}

export interface ApprovalRecord {
  /** In the order in which they arrived. */
  given: Approval[];
  change?: RuleChange;
}

/** The longest user name that may approve, and what is kept of a reason. */
export const MAX_USER = 256;
export const MAX_REASON = 256;

/** Longer than any record of ours: 64 approvals with the longest names and reasons in the widest script. */
const MAX_LENGTH = 196_608;

/** The same approvals give the same text; undefined where there is nothing to keep. */
export function formatApprovals({ given, change }: ApprovalRecord): string | undefined {
  if (given.length === 0 && !change) return undefined;
  return JSON.stringify({
    given: given.map(({ version, rollout, by, at, reason }) => ({ version, rollout, by, at: formatTime(at), reason })),
    change: change && { ...change, at: formatTime(change.at) },
  });
}

/** What is not ours counts as nothing. */
export function parseApprovals(text: string | undefined): ApprovalRecord {
  if (!text || text.length > MAX_LENGTH) return { given: [] };
  try {
    const { given, change } = JSON.parse(text);
    const changed = changeOf(change);
    return { given: given.flatMap(approvalOf).slice(-LIMITS.approvals), ...(changed && { change: changed }) };
  } catch {
    return { given: [] };
  }
}

function approvalOf(value: Record<string, unknown> | null): Approval[] {
  const { version, rollout, by, at, reason } = value ?? {};
  const time = parseTime(typeof at === 'string' ? at : undefined);
  if (typeof version !== 'string' || typeof by !== 'string' || time === undefined) return [];
  return [
    {
      version,
      ...(typeof rollout === 'string' && { rollout }),
      by,
      at: time,
      ...(typeof reason === 'string' && { reason }),
    },
  ];
}

function changeOf(value: Record<string, unknown> | undefined): RuleChange | undefined {
  const { by, at, from, to } = value ?? {};
  const time = parseTime(typeof at === 'string' ? at : undefined);
  if (typeof by !== 'string' || time === undefined || typeof from !== 'number' || typeof to !== 'number') return;
  return { by, at: time, from, to };
}
