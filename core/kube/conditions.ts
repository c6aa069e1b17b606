/** Conditions of a status, handled as in apimachinery's meta.SetStatusCondition. */
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import { boundedText, type CommandLine } from '../text/commands.ts';
import { formatTime } from './time.ts';

export type NewCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'> & {
  observedGeneration?: number;
  /** Commands below the message, each on a line of its own. */
  commands?: readonly CommandLine[];
};

export function trueCondition(type: string, reason: string, message: string): NewCondition {
  return { type, status: 'True', reason, message };
}

export function falseCondition(type: string, reason: string, message: string): NewCondition {
  return { type, status: 'False', reason, message };
}

/** The CRDs' limit: with a longer message the whole status would be rejected. */
const MAX_MESSAGE_CHARACTERS = 32_768;

/**
 * A new list with the condition in it, in the same order. `lastTransitionTime` changes only with `status`.
 * The message is on one line, because it may quote a tenant.
 */
export function setCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  { commands = [], ...condition }: NewCondition,
  now: EpochMs,
): C[] {
  const list = [...(conditions ?? [])];
  const index = list.findIndex((c) => c.type === condition.type);
  const before = list[index];
  const lastTransitionTime = before && before.status === condition.status ? before.lastTransitionTime : formatTime(now);
  const message = boundedText({ text: condition.message, commands }, MAX_MESSAGE_CHARACTERS);
  const after = { ...condition, message, lastTransitionTime } as C;
  if (index < 0) list.push(after);
  else list[index] = after;
  return list;
}

/** A new list with these conditions in it, set in turn. */
export function setConditions<C extends Condition>(
  conditions: readonly C[] | undefined,
  added: readonly NewCondition[],
  now: EpochMs,
): C[] {
  return added.reduce((list, each) => setCondition(list, each, now), [...(conditions ?? [])]);
}

export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((c) => c.type === type);
}
