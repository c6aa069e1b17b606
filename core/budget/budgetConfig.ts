/** The spec of a RolloutBudget, as numbers. Its CRD refuses what does not parse. */
import type { Budget } from '../../api/types.ts';
import { parseDuration } from '../kube/duration.ts';

export interface BudgetConfig {
  maxConcurrent: number;
  /** Absent where failures hold nobody. */
  maxFailures?: number;
  /** Milliseconds. */
  cooldown: number;
  /** Milliseconds; absent where a slot is taken until its deployment ends. */
  slotTimeout?: number;
  /** The label, and the wave of each of its values. */
  order?: { label: string; values: readonly string[] };
  /** Whether a failure counts that began by hand: not for other namespaces, whose budget it never asked. */
  countsByHand: boolean;
}

/** `selected`: how many Rollouts it selects, for shares of them. */
export function readBudget(budget: Budget, selected: number): BudgetConfig {
  const { spec, metadata } = budget;
  const maxConcurrent = amount(spec.maxConcurrent, selected);
  const maxFailures = spec.maxFailures === undefined ? undefined : amount(spec.maxFailures, selected);
  const slotTimeout = parseDuration(spec.slotTimeout);
  return {
    maxConcurrent: maxConcurrent ?? 0,
    ...(maxFailures !== undefined && { maxFailures: Math.max(1, maxFailures) }),
    cooldown: parseDuration(spec.cooldown) ?? 0,
    ...(slotTimeout !== undefined && { slotTimeout }),
    ...(spec.order && { order: spec.order }),
    countsByHand: metadata.namespace !== undefined,
  };
}

/** The number that `2` or `10%` stands for; a share is rounded up, so that only 0% of anything is nothing. undefined where it is neither. */
export function amount(value: unknown, of: number): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const [, percent] = /^(100|[0-9]{1,2})%$/.exec(typeof value === 'string' ? value : '') ?? [];
  return percent === undefined ? undefined : Math.ceil((of * Number(percent)) / 100);
}
