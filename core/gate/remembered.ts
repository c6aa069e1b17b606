/**
 * Evaluations of Gates, each for as long as it cannot change: one Gate is judged in every write and every sync of all that
 * it holds. Known by what an evaluation looks at and not by resourceVersion, since admission sees proposed Gates. A pure
 * function stays one: what is remembered is what would be computed, also for a clock that goes back.
 */
import {
  ACCEPTED_REQUEST,
  CLOSE_REASON,
  CLOSE_REQUESTED_AT,
  OPEN_FOR,
  OPEN_REASON,
  OPEN_REQUESTED_AT,
} from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { Memo } from '../memo.ts';

/** All that is looked at. Whoever makes an evaluation look at more adds it here; a property test compares. */
const ANNOTATIONS = [ACCEPTED_REQUEST, CLOSE_REASON, CLOSE_REQUESTED_AT, OPEN_FOR, OPEN_REASON, OPEN_REQUESTED_AT];
const MAX_GATES = 1000;
/** Sixty-four rules take 8 kB. A longer text is no real calendar: it is evaluated each time. */
const MAX_CONTENT = 16_384;

interface Steady<Value> {
  value: Value;
  from: EpochMs;
  /** undefined: forever. */
  until: EpochMs | undefined;
}

const known = new Memo<{ last?: Steady<unknown> }>(MAX_GATES);

/** `until` is the first instant after `now` at which the value may differ. Values are never changed in place. */
export function remembered<Value>(gate: Gate, now: EpochMs, make: () => Omit<Steady<Value>, 'from'>): Value {
  const content = contentOf(gate);
  if (content.length > MAX_CONTENT) return make().value;
  const slot = known.get(content, () => ({}));
  const { last } = slot;
  if (last && last.from <= now && (last.until === undefined || now < last.until)) return last.value as Value;
  const { value, until } = make();
  slot.last = { value, from: now, until };
  return value;
}

function contentOf({ metadata, spec, status }: Gate): string {
  const annotations = Object.fromEntries(ANNOTATIONS.map((key) => [key, metadata.annotations?.[key]]));
  const { default: standard, window, schedule, approvals } = spec;
  return JSON.stringify({
    standard,
    window,
    schedule,
    takesApprovals: approvals !== undefined,
    annotations,
    request: status?.request,
    planned: status?.planned,
  });
}
