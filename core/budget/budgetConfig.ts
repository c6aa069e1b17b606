/** The spec of a RolloutBudget as numbers. The CRD rejects values that do not parse. */
import type { Budget } from '../../api/types.ts';
import { parseDuration } from '../kube/duration.ts';

/** The parsed spec of a budget. */
export interface BudgetConfig {
  maxConcurrent: number;
  /** Absent if failures block no version. */
  maxFailures?: number;
  /** Milliseconds. */
  cooldown: number;
  /** In milliseconds; absent if a slot lasts until its deployment ends. */
  slotTimeout?: number;
  /** The label, and the wave of each of its values. */
  order?: { label: string; values: readonly string[] };
  /**
   * Whether failed manual deployments count. In a ClusterRolloutBudget they don't: a deployment that requested no slot
   * must not block Rollouts of other namespaces.
   */
  countsManual: boolean;
}

/**
 * The budget's spec, with percentages as numbers.
 * @param selected the number of Rollouts that the budget selects
 */
export function readBudget(budget: Budget, selected: number): BudgetConfig {
  const { spec, metadata } = budget;
  const maxConcurrent = amount(spec.maxConcurrent, selected);
  const maxFailures = spec.maxFailures === undefined ? undefined : amount(spec.maxFailures, selected);
  return {
    maxConcurrent: maxConcurrent ?? 0,
    ...(maxFailures !== undefined && { maxFailures: Math.max(1, maxFailures) }),
    cooldown: parseDuration(spec.cooldown) ?? 0,
    slotTimeout: parseDuration(spec.slotTimeout),
    order: spec.order,
    countsManual: metadata.namespace !== undefined,
  };
}

/**
 * The number for a text such as `2` or `10%` (of a total, rounded up: only 0% is zero); undefined for any other text.
 */
export function amount(value: unknown, of: number): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const [, percent] = /^(100|[0-9]{1,2})%$/.exec(typeof value === 'string' ? value : '') ?? [];
  return percent === undefined ? undefined : Math.ceil((of * Number(percent)) / 100);
}
