/** The spec of a RolloutBudget, as numbers. Its CRD refuses values that do not parse. */
import type { Budget } from '../../api/types.ts';
import { parseDuration } from '../kube/duration.ts';

export interface BudgetConfig {
  maxConcurrent: number;
  /** Absent if failures hold no Rollout. */
  maxFailures?: number;
  /** In milliseconds. */
  cooldown: number;
  /** In milliseconds; absent if a slot lasts until its deployment ends. */
  slotTimeout?: number;
  /** The label, and the wave of each of its values. */
  order?: { label: string; values: readonly string[] };
  /**
   * Whether failed manual deployments count. Not in a ClusterRolloutBudget: a deployment that requested no slot of it
   * must not hold other namespaces.
   */
  countsByHand: boolean;
}

/** The numbers of a budget. `selected`: how many Rollouts it selects, for percentages of them. */
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

/**
 * The number for `2` or `10%` of a total. A percentage is rounded up, so only 0% is zero. undefined for any other text.
 */
export function amount(value: unknown, of: number): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const [, percent] = /^(100|[0-9]{1,2})%$/.exec(typeof value === 'string' ? value : '') ?? [];
  return percent === undefined ? undefined : Math.ceil((of * Number(percent)) / 100);
}
