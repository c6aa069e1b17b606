/**
 * Checks budgets: no automatic deployment starts without a slot, and no budget has more Rollouts rolling out than
 * `maxConcurrent`.
 */
import type { AnyObject } from '../client/send.ts';
import { matches } from '../reference/flux.ts';

const BUDGET = /^\/registry\/kuberik\.com\/(?:rolloutbudgets\/([^/]+)|clusterrolloutbudgets)\/[^/]+$/;
const ROLLING_OUT = ['Deploying', 'InProgress'];

export class BudgetChecker {
  private readonly budgets = new Map<string, AnyObject>();
  /** By the Rollout's uid. */
  private readonly rollouts = new Map<string, AnyObject>();

  isBudget(key: string): boolean {
    return BUDGET.test(key);
  }

  /** Violations in the next stored version of a budget. */
  takeBudget(key: string, budget: AnyObject | undefined): string[] {
    const before = this.budgets.get(key);
    if (!budget) this.budgets.delete(key);
    else this.budgets.set(key, budget);
    const slots: AnyObject[] = budget?.status?.slots ?? [];
    const known = new Set((before?.status?.slots ?? []).map(slotText));
    const granted = slots.filter((slot) => slot.state === 'Granted' && !known.has(slotText(slot)));
    const taken = slots.filter(({ state }) => state !== 'Overdue').length + (budget?.status?.cooling ?? []).length;
    const max = budget?.spec.maxConcurrent;
    return granted.length > 0 && taken > max ? [`grants ${taken} slots of ${max}`] : [];
  }

  /** Violations in a Rollout's next stored version, which replaces `before`. */
  takeRollout(before: AnyObject | undefined, rollout: AnyObject): string[] {
    this.rollouts.set(rollout.metadata.uid ?? '', rollout);
    const head = headOf(rollout);
    const begins = before && head && head.id !== headOf(before)?.id && isAutomatic(head);
    return [...this.budgets].flatMap(([key, budget]) => {
      if (!selects(key, budget, rollout)) return [];
      const request = before?.status?.slotRequest?.id;
      const isIts = (slot: AnyObject) =>
        slot.uid === rollout.metadata.uid && slot.request === request && slot.version === head?.version.tag;
      const hasSlot = (budget.status?.slots ?? []).some(isIts);
      const members = [...this.rollouts.values()].filter((each) => selects(key, budget, each));
      const rollingOut = members.filter((each) => isAutomatic(headOf(each)) && isRollingOut(each));
      const names = rollingOut.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      const name = budget.metadata.name;
      return [
        ...(begins && !hasSlot ? [`deploys ${head.version.tag} (${head.id}) without a slot of budget ${name}`] : []),
        ...(names.length > budget.spec.maxConcurrent
          ? [
              `is one of ${names.length} rolling out; budget ${name} allows ${budget.spec.maxConcurrent}: ${names.join(', ')}`,
            ]
          : []),
      ];
    });
  }
}

const slotText = ({ uid, request, version }: AnyObject) => `${uid} ${request} ${version}`;
const headOf = (rollout: AnyObject | undefined): AnyObject | undefined => rollout?.status?.history?.[0];
/**
 * Only Rollouts that bake count: without a bake, a slot is held just until a newer version is wanted, which changes
 * with every Gate.
 */
const isRollingOut = (rollout: AnyObject) =>
  rollout.spec?.bakeTime !== undefined && ROLLING_OUT.includes(headOf(rollout)?.bakeStatus);

/** Whether the deployment needed a slot: a manual deployment and a retry don't. */
function isAutomatic(head: AnyObject | undefined): boolean {
  return head !== undefined && /^Automatic deployment/.test(head.message ?? '') && !head.lastRetryTimestamp;
}

function selects(key: string, { spec }: AnyObject, { metadata }: AnyObject): boolean {
  const namespace = BUDGET.exec(key)?.[1];
  return (namespace === undefined || namespace === metadata.namespace) && matches(spec.selector, metadata.labels);
}
