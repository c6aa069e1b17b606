/** List handling of metav1.Condition, as apimachinery's meta.SetStatusCondition does it. */
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import { oneLine } from '../text/oneLine.ts';
import { formatTime } from './time.ts';

export type NewCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'> & { observedGeneration?: number };

/** What a CRD takes of a message: with a longer one the whole status would be refused. */
const MAX_MESSAGE = 32_768;

/** A new list with the condition in it. `lastTransitionTime` moves only when `status` does; order is kept. Messages quote what tenants write: none has more than one line. */
export function setCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  condition: NewCondition,
  now: EpochMs,
): C[] {
  const list = [...(conditions ?? [])];
  const index = list.findIndex((c) => c.type === condition.type);
  const before = list[index];
  const lastTransitionTime = before && before.status === condition.status ? before.lastTransitionTime : formatTime(now);
  const message = oneLine(condition.message.slice(0, MAX_MESSAGE));
  const after = { ...condition, message, lastTransitionTime } as C;
  if (index < 0) list.push(after);
  else list[index] = after;
  return list;
}

export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((c) => c.type === type);
}
