/** CompositeController `rollouts`: what a Rollout's plan is made from, is decided, and is answered. */
import type { CompositeResponse } from '../../api/metacontroller.ts';
import type { Rollout, RolloutStatus } from '../../api/types.ts';
import { eventRecord } from '../../core/kube/events.ts';
import { countsOf } from '../../core/rollout/counts.ts';
import { durationsOf } from '../../core/rollout/durations.ts';
import type { CompositeHook } from '../hook.ts';
import { type DecidedPlan, decide } from './decide.ts';
import { followed, observe } from './observe.ts';
import { relatedRules } from './relatedRules.ts';
import { mayChangeUnseen } from './stages.ts';

/** Nothing triggers a sync when an ImagePolicy that no rule relates appears. */
const POLICY_LOOK_S = 30;
/** Nothing triggers a sync when a ConfigMap or ImagePolicy in its way is deleted. */
const FOREIGN_LOOK_S = 30;
/** Nothing triggers a sync when the Namespace of a stage begins to consent, or a cycle ends elsewhere. */
const STAGE_LOOK_S = 60;

export const rolloutHook: CompositeHook = {
  async customize({ parent }, { cluster, settings }) {
    return { relatedResources: await relatedRules(followed(parent as unknown as Rollout, settings), cluster) };
  },

  async sync(request, call) {
    const observed = await observe(request, call);
    const { plan, lookAgain } = await decide(observed, request.related, call);
    const events = plan.events.map((event) => eventRecord(event, observed.rollout, call.now));
    for (const event of events) call.events.record(event);
    for (const count of countsOf(events, plan.status)) call.metrics.count(count);
    for (const took of durationsOf(events, observed.rollout.status, plan.status)) call.metrics.observe(took);
    const looks = [
      plan.resyncAfterSeconds,
      lookAgain,
      observed.imagePolicy ? undefined : POLICY_LOOK_S,
      observed.configMapIsForeign || observed.writeBackProblem ? FOREIGN_LOOK_S : undefined,
      observed.stages && mayChangeUnseen(observed.rollout, observed.stages) ? STAGE_LOOK_S : undefined,
    ];
    return answer(plan, looks);
  },
};

/** Takes no plan that could not be taken back and was not judged from live reads. */
export function answer(
  { status, configMap, copyJob, derivedPolicy }: DecidedPlan,
  looks: (number | undefined)[],
): CompositeResponse<RolloutStatus> {
  const seconds = looks.filter((look) => look !== undefined);
  return {
    status,
    children: [configMap, copyJob, derivedPolicy].filter((child) => child !== undefined),
    ...(seconds.length > 0 && { resyncAfterSeconds: Math.min(...seconds) }),
  };
}
