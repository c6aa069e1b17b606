/** What keeps the next version out, in the conditions of its Rollout: every wait has a sentence. */

import {
  COPIED,
  DEPLOYMENT_BLOCKED,
  FIRST_DEPLOYMENT_NOT_GATED,
  GATE_CLOSED,
  PINNED,
  WAITING_FOR_ROLLOUT_GATES,
  WAITING_FOR_ROLLOUTS,
} from '../../api/conditions.ts';
import type { Rollout } from '../../api/types.ts';
import { approvalsNeeded, approveCommand, isApproved, WAITING_FOR_APPROVALS } from '../evaluation/approvals.ts';
import type { RolloutConfig } from '../evaluation/config.ts';
import { WAITING_FOR_COPY } from '../evaluation/copy.ts';
import type { Evaluation, RolloutState } from '../evaluation/evaluation.ts';
import type { Observed } from '../evaluation/observed.ts';
import { requestedText } from '../evaluation/requesters.ts';
import type { Requests } from '../evaluation/requests.ts';
import { gatesOf, namesInTheWay } from '../evaluation/rolloutGates.ts';
import { isForward } from '../evaluation/select.ts';
import { closedText } from '../gate/judge.ts';
import type { NewCondition } from '../kube/conditions.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { RELEASE_TOO_YOUNG } from '../release/age.ts';

/** RolloutGates that one message names. */
const MAX_NAMED = 5;

type Wait = [reason: string, message: string];

/** The first of what is in the way gives the reason; the message names all. */
export function deploymentBlocked(
  observed: Observed,
  state: RolloutState,
  evaluation: Evaluation,
  config: RolloutConfig,
): NewCondition {
  const { selection, unhealthy, pending, closed, young, copy } = evaluation;
  const forward = isForward(selection);
  const by = selection.manual && pending !== undefined ? requestedText(observed.rollout, pending) : '';
  const asked = by && `, ${by},`;
  const waits: Wait[] = [
    ...(forward && unhealthy !== undefined ? [['UnhealthyHealthChecks', unhealthy] satisfies Wait] : []),
    ...(closed.length > 0
      ? [[GATE_CLOSED, `Version ${pending}${asked} is waiting approval, ${closedText(closed)}`] satisfies Wait]
      : []),
    ...(forward && pending !== undefined ? waitsForPredecessor(pending, state, evaluation, config) : []),
    ...waitsForApprovals(asked, evaluation),
  ];
  if (copy?.isAwaited && copy.progress.state !== 'Copied') {
    waits.push([
      WAITING_FOR_COPY,
      `Version ${pending}${asked} waits until it is in ${copy.url}: ${copy.progress.message}`,
    ]);
  }
  const [first] = waits;
  if (first) return blocked('True', first[0], waits.map(([, message]) => message).join('; '));
  if (forward && pending === undefined && young[0]) {
    const { tag, deployableAt } = young[0];
    const why = 'spec.minimumReleaseAge counts from when it was first seen';
    return blocked('True', RELEASE_TOO_YOUNG, `Version ${tag} may be deployed from ${deployableAt} on: ${why}`);
  }
  return blocked('False', selection.manual ? 'ManualDeployment' : 'HealthChecksHealthy', '');
}

/** They are asked for while the version waits for something else too: people take longer than bakes. */
function waitsForApprovals(by: string, { pending, asked }: Evaluation): Wait[] {
  const missing = asked.filter((each) => !isApproved([each]));
  const [first] = missing;
  if (!first || pending === undefined) return [];
  const all = missing.slice(0, MAX_NAMED).map(approvalsNeeded).join(', ');
  const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : '';
  const how = approveCommand(first.gate, pending);
  return [[WAITING_FOR_APPROVALS, `Version ${pending}${by} waits for approvals, ${all}${more}: ${how}`]];
}

function waitsForPredecessor(
  pending: string,
  { history }: RolloutState,
  { obstacles }: Evaluation,
  { bakeTime }: RolloutConfig,
): Wait[] {
  const [head] = history;
  const waits: Wait[] = [];
  if (obstacles.bake && head) {
    const started = parseTime(head.bakeStartTime);
    const until = started === undefined || bakeTime === undefined ? '' : ` until ${formatTime(started + bakeTime)}`;
    waits.push(['BakeInProgress', `Version ${pending} waits for the bake of ${head.version.tag}${until}`]);
  }
  if (obstacles.failure && head) {
    const way = 'retry it, let the next version through with unblock-failed, or deploy by hand';
    waits.push(['PreviousDeploymentFailed', `Version ${pending} waits: ${head.version.tag} has failed; ${way}`]);
  }
  return waits;
}

/** Whether the release of spec.targetRepository is there. */
export function copied({ copy }: Evaluation): NewCondition | undefined {
  if (!copy) return undefined;
  const { version, url, progress } = copy;
  if (progress.state !== 'Copied') {
    const reason = progress.state === 'Copying' ? 'Copying' : 'CopyFailed';
    return {
      type: COPIED,
      status: 'False',
      reason,
      message: `Version ${version.tag} is not in ${url}: ${progress.message}`,
    };
  }
  const { digest, bytes, uploadedBytes } = progress.copy;
  const as = digest === undefined ? '' : ` as ${digest}`;
  const sent =
    bytes === undefined || uploadedBytes === undefined ? '' : `: ${uploadedBytes} of ${bytes} bytes were sent`;
  return { type: COPIED, status: 'True', reason: 'Copied', message: `Version ${version.tag} is in ${url}${as}${sent}` };
}

/** GatesPassing has the texts of the Go controller, which name no gate. */
export function waitingForRolloutGates(
  { rollout, rolloutGates }: Observed,
  { selection, pending, obstacles, candidates, verdict: { promoted } }: Evaluation,
): NewCondition | undefined {
  if (pending === undefined) return undefined;
  if (selection.initial) {
    return obstacles.initial
      ? waitingForGates(pending, namesInTheWay(gatesOf(rollout, rolloutGates), [{ tag: pending }]))
      : undefined;
  }
  if (!obstacles.gates || !isForward(selection)) return undefined;
  // Where stages let nothing through, RolloutGates are named only if they would not either.
  const names = namesInTheWay(gatesOf(rollout, rolloutGates), promoted.length > 0 ? promoted : candidates);
  if (names === '' && promoted.length === 0) return undefined;
  return waitingForGates(pending, names || 'RolloutGates whose lists have no version in common');
}

function waitingForGates(pending: string, names: string): NewCondition {
  const message = `Version ${pending} waits for ${names}`;
  return { type: WAITING_FOR_ROLLOUT_GATES, status: 'True', reason: 'RolloutGatesBlocking', message };
}

/** Who waits for whom, and why; a broken order is said even while no version waits. */
export function waitingForRollouts(
  { stages }: Observed,
  { selection, pending, verdict, stages: verdicts }: Evaluation,
): NewCondition | undefined {
  if (stages?.problem) {
    const { reason, message } = stages.problem;
    return waitingFor(reason, `${message}: no version is deployed automatically until it is changed`);
  }
  const isHeld = pending !== undefined && !verdict.promoted.some(({ tag }) => tag === pending);
  const names = verdicts.flatMap(({ waits }) => waits ?? []);
  if (!isHeld || !isForward(selection) || names.length === 0) return undefined;
  const reason = verdicts.some(({ isMissing }) => isMissing) ? 'RolloutNotFound' : 'NotSucceeded';
  return waitingFor(reason, `Version ${pending} waits for ${names.join(', ')}`);
}

function waitingFor(reason: string, message: string): NewCondition {
  return { type: WAITING_FOR_ROLLOUTS, status: 'True', reason, message };
}

/** A pinned Rollout looks healthy: it must say itself what it holds back. */
export function pinned(
  { rollout }: Observed,
  { candidates }: Evaluation,
  { forceDeploy }: Requests,
): NewCondition | undefined {
  const wanted = rollout.spec?.wantedVersion;
  if (!wanted) return undefined;
  const newer = candidates.find(({ tag }) => tag !== wanted)?.tag;
  const parts = [
    `spec.wantedVersion holds version ${wanted}: nothing newer is deployed until it is removed`,
    ...(newer === undefined ? [] : [`${newer} is available`]),
    ...(forceDeploy === undefined || forceDeploy === wanted ? [] : [waitingText(forceDeploy, rollout)]),
  ];
  return { type: PINNED, status: 'True', reason: 'WantedVersion', message: parts.join('; ') };
}

function waitingText(forceDeploy: string, rollout: Rollout): string {
  const by = requestedText(rollout, forceDeploy);
  return `the force-deploy of ${forceDeploy}${by && `, ${by},`} waits`;
}

/** The first version went out although RolloutGates would have held any other. */
export function firstDeploymentNotGated(
  { rollout, rolloutGates }: Observed,
  { history }: RolloutState,
  { gateFirstDeployment }: RolloutConfig,
): NewCondition | undefined {
  const [head, ...older] = history;
  const isAutomatic = head?.id === 1 && older.length === 0 && head.message?.startsWith('Automatic deployment');
  if (!head || !isAutomatic || gateFirstDeployment) return undefined;
  const names = namesInTheWay(gatesOf(rollout, rolloutGates), [head.version]);
  if (names === '') return undefined;
  const message =
    `Version ${head.version.tag} was deployed past ${names}: RolloutGates hold no first deployment of this Rollout. ` +
    'With spec.gateFirstDeployment: true they would have';
  return { type: FIRST_DEPLOYMENT_NOT_GATED, status: 'True', reason: 'RolloutGatesBlocking', message };
}

function blocked(status: 'True' | 'False', reason: string, message: string): NewCondition {
  return { type: DEPLOYMENT_BLOCKED, status, reason, message };
}
