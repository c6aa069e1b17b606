/**
 * CompositeControllers `rolloutbudgets` and `clusterrolloutbudgets`: the status of a budget, with the slots of the
 * Rollouts that it selects. DecoratorController `rolloutbudget-slots`: sets the labels of a budget by which a grant
 * triggers a sync of its Rollout.
 */
import { CONTINUE, SLOT_LABEL_SUFFIX } from '../api/annotations.ts';
import { KINDS, ROLLOUTS } from '../api/kinds.ts';
import type { DecoratorResponse, RelatedResourceRule } from '../api/metacontroller.ts';
import type { ClusterReader } from '../api/ports.ts';
import type { Budget, Rollout, Slot } from '../api/types.ts';
import { involvedObjectsOf } from '../core/binding/involvedObjects.ts';
import { planBudget } from '../core/budget/budgetPlan.ts';
import { isUsed } from '../core/budget/continueRequest.ts';
import { namespaceSelectorOf, slotLabels } from '../core/budget/selectingBudgets.ts';
import { eventRecord } from '../core/kube/events.ts';
import { identityOf } from '../core/kube/names.ts';
import { objectsOf } from '../core/kube/objectMap.ts';
import { compileSelector } from '../core/kube/selector.ts';
import {
  CONFLICT_REQUEUE_SECONDS,
  type CompositeHook,
  type DecoratorHook,
  repairedLabels,
  resyncAfter,
} from './hook.ts';

/**
 * The interval for changes that trigger no sync: of a Namespace's labels, and of an owner that the budget no longer
 * selects.
 */
const UNSEEN_REQUEUE_SECONDS = 60;

export const budgetHook: CompositeHook<Budget> = {
  async customize({ parent }) {
    return { relatedResources: [rolloutRule(parent)] };
  },

  async sync({ parent: budget, related }, { now, cluster, events }) {
    const found = objectsOf<Rollout>(related, KINDS.Rollout);
    const rollouts = selectedRollouts(budget, found);
    const others = await otherOwners(budget, rollouts, found, cluster);
    const plan = planBudget(budget, { rollouts, others }, now);
    const names = rollouts.map((rollout) => ({ kind: KINDS.Rollout.kind, ...identityOf(rollout) }));
    const involvedObjects = involvedObjectsOf(names, budget.metadata.namespace);
    for (const event of plan.events) {
      events.record({ ...eventRecord(event, budget, now, `revision-${plan.status.revision ?? 0}`), involvedObjects });
    }
    const requeues = plan.requeueAt.map((at) => (at - now) / 1000);
    if (others.size > 0 || namespaceSelectorOf(budget)) requeues.push(UNSEEN_REQUEUE_SECONDS);
    return { status: plan.status, children: [], ...resyncAfter(requeues) };
  },
};

export const budgetSlotsHook: DecoratorHook<Budget> = {
  async sync({ object: budget }) {
    const { labels = {} } = budget.metadata;
    const stored = Object.keys(labels).filter((label) => label.endsWith(SLOT_LABEL_SUFFIX));
    const wanted = Object.fromEntries([
      ...stored.map((label) => [label, undefined] as const),
      ...slotLabels(budget).map((label) => [label, ''] as const),
    ]);
    const answer: DecoratorResponse = { attachments: [], ...repairedLabels(budget, wanted) };
    if (!isUsed(budget)) return answer;
    return { ...answer, annotations: { [CONTINUE]: null }, resyncAfterSeconds: CONFLICT_REQUEUE_SECONDS };
  },
};

function rolloutRule(budget: Budget): RelatedResourceRule {
  const rule = { ...ROLLOUTS, labelSelector: budget.spec.selector };
  if (budget.metadata.namespace) return { ...rule, namespace: budget.metadata.namespace };
  const namespaceSelector = namespaceSelectorOf(budget);
  return namespaceSelector ? { ...rule, namespaceSelector } : rule;
}

/**
 * The related Rollouts that the budget selects now; the customize answer may be older.
 * @throws SelectorError, so that nothing is granted
 */
function selectedRollouts(budget: Budget, rollouts: readonly Rollout[]): Rollout[] {
  const matches = compileSelector(budget.spec.selector);
  return rollouts.filter(({ metadata }) => matches(metadata.labels));
}

/**
 * The owners of slots that the budget does not select, by uid; undefined for one that is gone. Owners that
 * Metacontroller's cache lacks are read live: the cache may be behind.
 */
async function otherOwners(
  { status }: Budget,
  selected: readonly Rollout[],
  found: readonly Rollout[],
  cluster: ClusterReader,
): Promise<ReadonlyMap<string, Rollout | undefined>> {
  const known = new Set(selected.map(({ metadata }) => metadata.uid));
  const sent = new Map(found.map((rollout) => [rollout.metadata.uid, rollout]));
  const missing = (status?.slots ?? []).filter(({ uid }) => !known.has(uid));
  const owner = async ({ uid, namespace, name }: Slot): Promise<Rollout | undefined> => {
    const live = sent.get(uid) ?? (await cluster.get<Rollout>({ ...ROLLOUTS, namespace, name }));
    return live?.metadata.uid === uid ? live : undefined;
  };
  return new Map(await Promise.all(missing.map(async (slot) => [slot.uid, await owner(slot)] as const)));
}
