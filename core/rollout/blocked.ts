/** What keeps the next version out, in the conditions of its Rollout: every wait has a sentence. */

import {
  COPIED,
  DEPLOYMENT_BLOCKED,
  FIRST_DEPLOYMENT_NOT_GATED,
  PINNED,
  WAITING_FOR_ROLLOUT_GATES,
  WAITING_FOR_ROLLOUTS,
} from '../../api/conditions.ts';
import type { Blocker, HistoryEntry, Rollout } from '../../api/types.ts';
import { unhealthyMessage } from '../deployment/healthChecks.ts';
import { approvalsNeeded, approveCommand, isApproved } from '../evaluation/approvals.ts';
import type { RolloutConfig } from '../evaluation/config.ts';
import type { Evaluation, RolloutState } from '../evaluation/evaluation.ts';
import type { Observed } from '../evaluation/observed.ts';
import { requestedText } from '../evaluation/requesters.ts';
import type { Requests } from '../evaluation/requests.ts';
import { gatesOf, namesInTheWay } from '../evaluation/rolloutGates.ts';
import { isForward } from '../evaluation/select.ts';
import { closedText } from '../gate/judge.ts';
import type { NewCondition } from '../kube/conditions.ts';
import { formatTime, parseTime } from '../kube/time.ts';

/** RolloutGates that one message names. */
const MAX_NAMED = 5;

interface Told {
  /** `, requested by alice at …,`, or nothing. */
  by: string;
  /** The version that waits. */
  version: string;
  head: HistoryEntry | undefined;
  config: RolloutConfig;
  evaluation: Evaluation;
}

/** What DeploymentBlocked says of each kind of blocker, in its order. The others have a condition of their own. */
const SENTENCES: readonly [type: Blocker['type'], sentence: (told: Told) => string][] = [
  [
    'Gate',
    ({ version, by, evaluation }) => `Version ${version}${by} is waiting approval, ${closedText(evaluation.closed)}`,
  ],
  ['Bake', bakeText],
  ['Failure', ({ version, head }) => `Version ${version} waits: ${head?.version.tag} has failed; ${WAYS_ON}`],
  ['Approvals', approvalsText],
  ['Copy', copyText],
];
const WAYS_ON = 'retry it, let the next version through with unblock-failed, or deploy by hand';

/** The first of what is in the way gives the reason; the message names all. */
export function deploymentBlocked(
  { rollout }: Observed,
  { history: [head] }: RolloutState,
  evaluation: Evaluation,
  config: RolloutConfig,
): NewCondition {
  const { selection, unhealthy, pending: version, blockers, young } = evaluation;
  // As in the Go controller: whether a version waits or not.
  const health = isForward(selection) ? unhealthy.slice(0, 1).map((check) => [UNHEALTHY, unhealthyMessage(check)]) : [];
  const requested = selection.manual && version !== undefined ? requestedText(rollout, version) : '';
  const told = { by: requested && `, ${requested},`, head, config, evaluation };
  const waits = SENTENCES.flatMap(([type, sentence]) => {
    const first = blockers.find((each) => each.type === type && each.version === version && isTold(each));
    return first && version !== undefined ? [[first.reason, sentence({ ...told, version })]] : [];
  });
  const all = [...health, ...waits];
  if (all[0]) return blocked('True', all[0][0]!, all.map(([, message]) => message).join('; '));
  const age = blockers.find(({ type }) => type === 'MinimumAge');
  if (age && young[0]) {
    const why = 'spec.minimumReleaseAge counts from when it was first seen';
    return blocked(
      'True',
      age.reason,
      `Version ${young[0].tag} may be deployed from ${young[0].deployableAt} on: ${why}`,
    );
  }
  return blocked('False', selection.manual ? 'ManualDeployment' : 'HealthChecksHealthy', '');
}

const UNHEALTHY = 'UnhealthyHealthChecks';

/** RolledBack says what is waited for before a way back is known. */
function isTold({ type, effect }: Blocker): boolean {
  return type !== 'Failure' || effect === 'Blocks';
}

/** They are asked for while the version waits for something else too: people take longer than bakes. */
function approvalsText({ version, by, evaluation: { asked } }: Told): string {
  const missing = asked.filter((each) => !isApproved([each]));
  const all = missing.slice(0, MAX_NAMED).map(approvalsNeeded).join(', ');
  const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : '';
  const how = missing[0] ? `: ${approveCommand(missing[0].gate, version)}` : '';
  return `Version ${version}${by} waits for approvals, ${all}${more}${how}`;
}

function bakeText({ version, head, config: { bakeTime } }: Told): string {
  const started = parseTime(head?.bakeStartTime);
  const until = started === undefined || bakeTime === undefined ? '' : ` until ${formatTime(started + bakeTime)}`;
  return `Version ${version} waits for the bake of ${head?.version.tag}${until}`;
}

function copyText({ version, by, evaluation: { copy } }: Told): string {
  const message = copy && copy.progress.state !== 'Copied' ? copy.progress.message : '';
  return `Version ${version}${by} waits until it is in ${copy?.url}: ${message}`;
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
  const isAutomatic = head?.id === 1 && older.length === 0 && head.origin?.[0] === 'Automatic';
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
