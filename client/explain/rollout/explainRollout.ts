/** Everything there is to say about a Rollout: from its status, refined by what can be read around it. */

import { WATCHES_LABEL } from '../../../api/annotations.ts';
import { READY } from '../../../api/conditions.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { FluxBinding, Rollout } from '../../../api/types.ts';
import { pinRecordOf } from '../../../core/approval/pinRecord.ts';
import { isBaking } from '../../../core/deployment/bake.ts';
import { boundTo } from '../../../core/deployment/progress.ts';
import { isUnwatched } from '../../../core/deployment/unwatched.ts';
import { requesterOf } from '../../../core/evaluation/requesters.ts';
import { requestsOf } from '../../../core/evaluation/requests.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { remediesOf } from '../../actions/lines.ts';
import { rolloutActions } from '../../actions/rolloutActions.ts';
import type { Application, ApplicationState, DeploymentView, Step, WaitingVersion } from '../application.ts';
import { defined } from '../defined.ts';
import { isFailedObject } from '../step.ts';
import { byNamespace, type Surroundings, unreadOf, unreadTexts, watchesElsewhere } from '../surroundings.ts';
import { ofType } from './blocking.ts';
import { causesOf } from './causes.ts';
import { conditionSteps } from './conditionSteps.ts';
import { bakeStep, bindingSteps, checkSteps } from './deploymentSteps.ts';
import { deploymentView } from './deploymentView.ts';
import { failureCauses, failureOf } from './failure.ts';
import { gateSteps } from './gateSteps.ts';
import { nextOf } from './next.ts';
import { rolloutGateSteps } from './rolloutGateSteps.ts';

/** Many of them, in their order: linear in all that is around them, but for what shares a namespace. */
export function explainRollouts(rollouts: readonly Rollout[], around: Surroundings, now: EpochMs): Application[] {
  const surroundingsOf = byNamespace(around);
  return rollouts.map((rollout) => {
    const own = surroundingsOf(rollout.metadata.namespace ?? '');
    const { healthChecks } = watchesElsewhere(rollout) ? around : own;
    return explainRollout(rollout, { ...own, healthChecks }, now);
  });
}

export function explainRollout(rollout: Rollout, around: Surroundings, now: EpochMs): Application {
  const { metadata, status } = rollout;
  const { namespace = '', name = '', uid } = metadata;
  const { [WATCHES_LABEL]: _, ...labels } = metadata.labels ?? {};
  const bound = boundTo(rollout, around.bindings);
  const waiting = waitingVersion(rollout);
  const history = (status?.history ?? []).map(deploymentView);
  const steps = stepsOf(rollout, bound, around, waiting?.version, now);
  const state = stateOf(rollout, waiting, steps);
  const failure = failureOf(rollout, steps);
  const said = causesOf(rollout, steps);
  const causes = [...said, ...failureCauses(rollout, failure, said)];
  const next = nextOf(rollout, steps, waiting?.version);
  const actions = rolloutActions(rollout, { steps, waiting, failure, causes }, around, now);
  return {
    namespace,
    name,
    labels,
    state,
    headline: headline(rollout, history[0], waiting, steps),
    ...defined({
      uid,
      title: status?.title,
      description: status?.description,
      source: status?.source,
      runs: history[0],
      waiting,
      failure,
      pinned: rollout.spec?.wantedVersion,
      pin: pinRecordOf(rollout),
      next,
    }),
    steps,
    causes,
    remedies: remediesOf(actions, now),
    history,
    unread: unreadTexts(unreadOf(around, bound)),
    releases: status?.availableReleasesCount ?? status?.availableReleases?.length ?? 0,
  };
}

function stepsOf(
  rollout: Rollout,
  bound: readonly FluxBinding[],
  around: Surroundings,
  version: string | undefined,
  now: EpochMs,
): Step[] {
  return [
    ...conditionSteps(rollout, version),
    ...rolloutGateSteps(rollout, around, version, now),
    ...gateSteps(rollout, bound, around, version, now),
    ...checkSteps(rollout, around),
    ...bindingSteps(rollout, bound, around.objects),
    ...bakeStep(rollout, bound, now),
  ];
}

function waitingVersion(rollout: Rollout): WaitingVersion | undefined {
  const { status, spec } = rollout;
  const version = status?.pendingVersion;
  if (version === undefined) return undefined;
  const isByHand = version === spec?.wantedVersion || version === requestsOf(rollout).forceDeploy;
  const asked = isByHand ? requesterOf(rollout, version) : undefined;
  const release = status?.availableReleases?.find(({ tag }) => tag === version);
  return { version, ...(asked && { asked }), ...defined({ firstSeen: release?.firstSeen }) };
}

function stateOf(rollout: Rollout, waiting: WaitingVersion | undefined, steps: readonly Step[]): ApplicationState {
  const { status } = rollout;
  const [head] = status?.history ?? [];
  const ready = findCondition(status?.conditions, READY);
  if (ready?.status === 'False' && ready.reason === 'RolloutFailed') return 'problem';
  if (waiting && head && isUnwatched(head, rollout) && isBaking(head)) return 'waits';
  if (isBaking(head)) return head?.bakeStatus === 'Deploying' ? 'deploying' : 'baking';
  if (head?.bakeStatus === 'Failed') return 'failed';
  if (steps.some(isFailedObject)) return 'problem';
  if (waiting) return 'waits';
  return head ? 'done' : 'empty';
}

const SAID: Record<DeploymentView['outcome'], string> = {
  Deploying: 'is being deployed',
  InProgress: 'is baking',
  Succeeded: 'runs',
  Failed: 'has failed',
  Cancelled: 'was cancelled',
  Unknown: 'runs',
};

function headline(
  { status, spec }: Rollout,
  head: DeploymentView | undefined,
  waiting: WaitingVersion | undefined,
  steps: readonly Step[],
): string {
  const current = status?.currentVersion;
  const held = ofType(status?.blockers, 'PinnedVersion')?.version;
  const broken = steps.filter(isFailedObject).map(({ title }) => title);
  const more = broken.length > 1 ? ` and ${broken.length - 1} more` : '';
  const parts = [
    ...(waiting ? [`${waiting.version} waits`] : []),
    head ? `${head.version} ${SAID[head.outcome]}` : 'nothing is deployed',
    ...(head && current !== undefined && current !== head.version ? [`${current} runs`] : []),
    ...(!waiting && held !== undefined ? [`the pin on ${spec?.wantedVersion} holds ${held}`] : []),
    ...(broken.length > 0 ? [`${broken[0]}${more} failed`] : []),
  ];
  return parts.join(', ');
}
