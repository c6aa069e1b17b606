/**
 * Whether order and width were kept, from everything that etcd has stored of Rollouts and RolloutBudgets, in the order in which it
 * was stored. Knows nothing of how it is decided.
 */
import type { StoredVersion } from '../../../dev/chaos/recorder.ts';
import type { AnyObject } from '../../../dev/client/send.ts';

/** What was asked for, of the Rollouts of one namespace. */
export interface Rules {
  budgets: readonly BudgetRule[];
  /** By Rollout, those it comes after. */
  after: Readonly<Record<string, readonly string[]>>;
}

export interface BudgetRule {
  name: string;
  selects: readonly string[];
  maxConcurrent: number;
  maxFailures?: number;
  /** Names, first wave first. */
  waves?: readonly (readonly string[])[];
}

interface Entry {
  id: number;
  version: { tag: string };
  bakeStatus?: string;
}

/** Versions of Rollouts and budgets, oldest first. A sentence for each rule that was broken. */
export function judge(stored: readonly StoredVersion[], rules: Rules): string[] {
  const rollouts = new Map<string, AnyObject>();
  const budgets = new Map<string, AnyObject>();
  const wrong: string[] = [];
  for (const { key, revision, object } of stored) {
    const [, , , plural, , name = ''] = key.split('/');
    const all = plural === 'rollouts' ? rollouts : budgets;
    if (plural === 'rollouts' && object) {
      const before = headOf(rollouts.get(name));
      rollouts.set(name, object);
      const head = headOf(object);
      const begun = head && head.id !== before?.id ? head : undefined;
      if (begun) wrong.push(...judgeStart(name, begun.version.tag).map((text) => `revision ${revision}: ${text}`));
      if (begun && historyOf(object).filter(({ version }) => version.tag === begun.version.tag).length > 1) {
        wrong.push(`revision ${revision}: ${name} deploys ${begun.version.tag} once more`);
      }
      wrong.push(...judgeWidth(name).map((text) => `revision ${revision}: ${text}`));
    } else if (object) {
      wrong.push(...judgeGrants(name, all.get(name), object).map((text) => `revision ${revision}: ${text}`));
      all.set(name, object);
    } else {
      all.delete(name);
    }
  }
  return wrong;

  function judgeStart(name: string, tag: string): string[] {
    const early = (rules.after[name] ?? []).filter((stage) => !hasSucceeded(rollouts.get(stage), tag));
    const orders = rules.budgets.flatMap(({ selects, waves = [] }) => {
      if (!selects.includes(name)) return [];
      const mine = waves.findIndex((wave) => wave.includes(name));
      return waves.slice(0, mine).flat();
    });
    const ahead = orders.filter((other) => !hasSucceeded(rollouts.get(other), tag));
    return [
      ...early.map((stage) => `${name} begins ${tag} before ${stage} has it Succeeded`),
      ...ahead.map((other) => `${name} begins ${tag} before ${other} of an earlier wave has it Succeeded`),
      ...rules.budgets.flatMap((rule) => (rule.selects.includes(name) ? withoutSlot(rule.name, name, tag) : [])),
    ];
  }

  function withoutSlot(budget: string, name: string, tag: string): string[] {
    const uid = rollouts.get(name)?.metadata.uid;
    const slots: AnyObject[] = budgets.get(budget)?.status?.slots ?? [];
    const has = slots.some((slot) => slot.uid === uid && slot.version === tag);
    return has ? [] : [`${name} begins ${tag} without a slot of ${budget}`];
  }

  function judgeWidth(name: string): string[] {
    return rules.budgets.flatMap(({ name: budget, selects, maxConcurrent }) => {
      if (!selects.includes(name)) return [];
      const onWay = selects.filter((each) => isOnWay(headOf(rollouts.get(each))));
      return onWay.length > maxConcurrent
        ? [`${onWay.length} on their way under ${budget}, which allows ${maxConcurrent}: ${onWay.join(', ')}`]
        : [];
    });
  }

  /** No slot is granted for a version that the budget itself says is held, nor for one that as many as are allowed have failed. */
  function judgeGrants(name: string, before: AnyObject | undefined, after: AnyObject): string[] {
    const rule = rules.budgets.find((each) => each.name === name);
    if (!rule?.maxFailures) return [];
    const known = new Set((before?.status?.slots ?? []).map(slotId));
    const granted = (after.status?.slots ?? []).filter((slot: AnyObject) => slot.request && !known.has(slotId(slot)));
    return granted.flatMap(({ version, name: holder }: AnyObject) => {
      const entry = (after.status.versions ?? []).find((each: AnyObject) => each.version === version);
      if (entry?.held) return [`${name} grants ${holder} a slot for ${version}, which is held`];
      const failed = (entry?.failed ?? 0) - (entry?.failuresExcused ?? 0);
      return failed >= (rule.maxFailures ?? 0)
        ? [`${name} grants ${holder} a slot for ${version} after ${failed} failures`]
        : [];
    });
  }
}

const slotId = ({ uid, request, version }: AnyObject) => `${uid} ${request} ${version}`;
const historyOf = (rollout: AnyObject | undefined): Entry[] => rollout?.status?.history ?? [];
const headOf = (rollout: AnyObject | undefined): Entry | undefined => historyOf(rollout)[0];
const isOnWay = (head: Entry | undefined) => head?.bakeStatus === 'Deploying' || head?.bakeStatus === 'InProgress';

function hasSucceeded(rollout: AnyObject | undefined, tag: string): boolean {
  return historyOf(rollout).some(({ version, bakeStatus }) => version.tag === tag && bakeStatus === 'Succeeded');
}
