/** The spec of a RolloutBudget, as numbers. */
import type { Budget } from '../../api/types.ts';
import { durationProblem, parseDuration } from '../kube/duration.ts';
import { problemText } from '../kube/fieldProblem.ts';
import { selectorProblems } from '../kube/selector.ts';

export interface BudgetConfig {
  maxConcurrent: number;
  /** Absent if failures hold no Rollout. */
  maxFailures?: number;
  /** Milliseconds. */
  cooldown: number;
  /** Milliseconds; absent if a slot lasts until its deployment ends. */
  slotTimeout?: number;
  /** The label, and the wave of each of its values. */
  order?: { label: string; values: readonly string[] };
  /** Whether the failure of a manual deployment counts: not for other namespaces, whose budget it never requested a slot from. */
  countsByHand: boolean;
  /** What the CRD refuses and an older one let in. While there are any, nothing is granted. */
  problems: string[];
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
    problems: budgetProblems(budget),
  };
}

/** The number for `2` or `10%`. A percentage is rounded up, so only 0% is zero. undefined for any other text. */
export function amount(value: unknown, of: number): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const [, percent] = /^(100|[0-9]{1,2})%$/.exec(typeof value === 'string' ? value : '') ?? [];
  return percent === undefined ? undefined : Math.ceil((of * Number(percent)) / 100);
}

/** Tenants choose the labels of their Rollouts, so these can't select the Rollouts that share a budget. */
const NOT_SHARED = 'spec.namespaceSelector is missing (it selects the namespaces that share the slots, {} selects all)';

/** A sentence each. */
export function budgetProblems(budget: Budget): string[] {
  const { spec, metadata } = budget;
  const amounts = (['maxConcurrent', 'maxFailures'] as const).flatMap((field) => {
    const value = spec[field];
    const isMissing = value === undefined && field === 'maxFailures';
    return isMissing || amount(value, 100) !== undefined
      ? []
      : [`spec.${field}: ${JSON.stringify(value)} is neither a number nor a share such as 10%`];
  });
  const durations = (['cooldown', 'slotTimeout'] as const).flatMap(
    (field) => durationProblem(`spec.${field}`, spec[field]) ?? [],
  );
  const namespaceSelector = 'namespaceSelector' in spec ? spec.namespaceSelector : undefined;
  const isShared = metadata.namespace !== undefined || namespaceSelector !== undefined;
  const selectors = [
    ...selectorProblems(spec.selector, 'spec.selector'),
    ...selectorProblems(namespaceSelector, 'spec.namespaceSelector'),
  ];
  return [...amounts, ...durations, ...selectors.map(problemText), ...(isShared ? [] : [NOT_SHARED])];
}
