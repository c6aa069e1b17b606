/** Who set the calendar of a Gate, when and why: the JSON text of an annotation that only the webhook writes. */
import { REASON, SCHEDULED_BY } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { sameJson } from '../kube/json.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { MAX_REASON, MAX_USER, oneLine } from './record.ts';

export interface ScheduledBy {
  /** The authenticated user. */
  by: string;
  /** RFC 3339. */
  at: string;
  reason?: string;
}

/** Longer than any of ours. */
const MAX_LENGTH = 8192;

/** For the webhook: the text of the annotation after this write by `user`; undefined for a Gate without a calendar. */
export function notedSchedule(gate: Gate, old: Gate | undefined, user: string, now: EpochMs): string | undefined {
  const { schedule } = gate.spec;
  if (!schedule) return undefined;
  const stored = old?.metadata.annotations?.[SCHEDULED_BY];
  if (old && sameJson(schedule, old.spec.schedule)) return parse(stored) && stored;
  const given = gate.metadata.annotations?.[REASON];
  const reason = given === old?.metadata.annotations?.[REASON] ? '' : oneLine((given ?? '').slice(0, MAX_REASON));
  return JSON.stringify({
    by: oneLine(user.slice(0, MAX_USER)),
    at: formatTime(now),
    ...(reason && { reason }),
  } satisfies ScheduledBy);
}

export function scheduledBy({ metadata, spec }: Gate): ScheduledBy | undefined {
  return spec.schedule && parse(metadata.annotations?.[SCHEDULED_BY]);
}

/** What is not ours counts as nothing. */
function parse(text: string | undefined): ScheduledBy | undefined {
  if (!text || text.length > MAX_LENGTH) return undefined;
  try {
    const { by, at, reason } = (JSON.parse(text) ?? {}) as Record<string, unknown>;
    if (typeof by !== 'string' || typeof at !== 'string' || parseTime(at) === undefined) return undefined;
    return { by, at, ...(typeof reason === 'string' && { reason }) };
  } catch {
    return undefined;
  }
}
