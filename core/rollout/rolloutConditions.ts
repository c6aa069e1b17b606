/**
 * The conditions of a Rollout.
 * Types and reasons are in docs/reference/conditions.md; a transient condition exists only while it applies.
 */
import { BYPASS_ROLLOUT_GATES } from '../../api/annotations.ts';
import {
  COPIED,
  DEPLOYMENT_BLOCKED,
  GATES_PASSING,
  HEALTH_CHECKS_LEFT_OUT,
  HEALTH_CHECKS_MISSING,
  PINNED,
  PROGRESSING,
  READY,
  ROLLED_BACK,
  WAITING_FOR_BUDGET,
  WAITING_FOR_ROLLOUT_GATES,
  WAITING_FOR_ROLLOUTS,
} from '../../api/conditions.ts';
import type { Condition, EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { HistoryEntry, Rollout } from '../../api/types.ts';
import type { ClosedGates } from '../gate/closedGates.ts';
import { checkKey, goneChecks } from '../health/knownHealth.ts';
import { falseCondition, findCondition, type NewCondition, setConditions, trueCondition } from '../kube/conditions.ts';
import { formatTime } from '../kube/time.ts';
import { areClosed } from '../objectGates/gateTexts.ts';
import type { DeploymentDecision, Evaluation } from './decideDeployment.ts';
import { type BakeConfig, bakeEnd, bakeUntil, failsAt } from './deployment/bake.ts';
import { bakeSummary, HELD, MARKED_SUCCESSFUL, readyMessage } from './deployment/deploymentMessages.ts';
import { isInRecovery } from './deployment/entry.ts';
import { type FailedCheck, healthChecksLeftOut, healthChecksMissing, notReady } from './deployment/healthChecks.ts';
import { hasNoBake, isUnfinished } from './deployment/history.ts';
import { gatesThatHold, targetName, unapplied } from './deployment/progress.ts';
import { blockedByPin } from './evaluation/blockers.ts';
import type { Observed, RolloutContext } from './evaluation/observed.ts';
import { rollbackCondition } from './evaluation/rollback.ts';
import { type Requests, requestedText, unavailableText, unknownBypass } from './evaluation/rolloutRequests.ts';
import { shownBypass } from './gateSummaries.ts';
import { READY_REASONS, readyOfWaits, type Wait, waitCondition } from './waits.ts';

/** All conditions after a decision. */
export function nextConditions(
  { context, evaluation }: DeploymentDecision,
  waits: readonly Wait[],
  problems: readonly string[],
): readonly Condition[] {
  const { observed, state, requests, now } = context;
  const { rollout } = observed;
  const transient: [type: string, NewCondition | undefined][] = [
    [ROLLED_BACK, rollbackCondition(state.history, evaluation.rollback, evaluation.versionGates.closed)],
    [PROGRESSING, progressCondition(context)],
    [WAITING_FOR_ROLLOUT_GATES, waitCondition(WAITING_FOR_ROLLOUT_GATES, waits)],
    [WAITING_FOR_ROLLOUTS, waitCondition(WAITING_FOR_ROLLOUTS, waits)],
    [WAITING_FOR_BUDGET, waitCondition(WAITING_FOR_BUDGET, waits)],
    [COPIED, copyCondition(evaluation)],
    [PINNED, pinCondition(observed, evaluation, requests)],
    [HEALTH_CHECKS_LEFT_OUT, healthChecksLeftOut(observed.unconsentingChecks, rollout)],
    [HEALTH_CHECKS_MISSING, healthChecksMissing(observed, rollout)],
  ];
  const ended = new Set(transient.flatMap(([type, condition]) => (condition ? [] : [type])));
  const ready = readyNow(context, evaluation, waits, problems);
  const conditions = [
    gatesCondition(state.history, evaluation),
    waitCondition(DEPLOYMENT_BLOCKED, waits) ?? notBlocked(evaluation),
    ...transient.flatMap(([, condition]) => condition ?? []),
    ...(ready ? [ready] : []),
  ];
  const lasting = state.conditions.filter(({ type }) => !ended.has(type));
  return setConditions(lasting, conditions, now);
}

function notBlocked({ choice }: Evaluation): NewCondition {
  return falseCondition(
    DEPLOYMENT_BLOCKED,
    choice.trigger === 'Manual' ? 'ManualDeployment' : 'HealthChecksHealthy',
    '',
  );
}

/** GatesPassing: the result of the RolloutGates, with the texts of the Go controller, which name none. */
function gatesCondition(history: readonly HistoryEntry[], evaluation: Evaluation): NewCondition {
  const { candidates, rolloutGatesResult } = evaluation;
  const { passing, allowedByLists } = rolloutGatesResult;
  const bypassed = shownBypass(history, evaluation);
  if (bypassed !== undefined)
    return trueCondition(GATES_PASSING, 'GatesBypassed', `Gates bypassed for version ${bypassed}`);
  if (!passing) return falseCondition(GATES_PASSING, 'SomeGatesBlocking', 'Some gates are blocking deployment');
  if (candidates.length === 0 || allowedByLists.length > 0)
    return trueCondition(GATES_PASSING, 'AllGatesPassing', 'All gates are passing');
  return falseCondition(GATES_PASSING, 'NoAllowedVersions', 'No release candidates are allowed by all gates');
}

/** Copied: whether spec.targetRepository has the release. */
function copyCondition({ copy }: Evaluation): NewCondition | undefined {
  if (!copy) return undefined;
  const { version, url, progress, stored } = copy;
  if (progress.state !== 'Copied') {
    const reason = progress.state === 'Copying' ? 'Copying' : 'CopyFailed';
    const lacks = stored ? 'not copied again to' : 'not in';
    return falseCondition(COPIED, reason, `Version ${version.tag} is ${lacks} ${url}: ${progress.message}`);
  }
  const { digest, bytes, uploadedBytes } = progress.copy;
  const as = digest === undefined ? '' : ` as ${digest}`;
  const sent =
    bytes === undefined || uploadedBytes === undefined ? '' : `: ${uploadedBytes} of ${bytes} bytes were sent`;
  return trueCondition(COPIED, 'Copied', `Version ${version.tag} is in ${url}${as}${sent}`);
}

/** Pinned: the versions that wait for the end of the pin. Otherwise a pinned Rollout looks healthy. */
function pinCondition({ rollout }: Observed, { candidates }: Evaluation, requests: Requests): NewCondition | undefined {
  const wanted = rollout.spec?.wantedVersion;
  if (!wanted) return undefined;
  const { newer, forced } = blockedByPin(wanted, candidates, requests);
  const by = forced === undefined ? '' : requestedText(rollout, forced);
  const parts = [
    `spec.wantedVersion pins version ${wanted}: no newer version is deployed until you remove the field`,
    ...(newer === undefined ? [] : [`${newer} is available`]),
    ...(forced === undefined ? [] : [`the force-deploy of ${forced}${by && `, ${by},`} waits`]),
  ];
  return trueCondition(PINNED, 'WantedVersion', parts.join('; '));
}

/** Reason of Progressing while problems of the spec stop the deployment. */
const WAITING_FOR_FIX = 'WaitingForFix';

/** Whether the newest deployment waits until a problem of the spec is fixed: it neither succeeds nor fails. */
export function awaitsFix({ status }: Pick<Rollout, 'status'>): boolean {
  return findCondition(status?.conditions, PROGRESSING)?.reason === WAITING_FOR_FIX;
}

/**
 * Progressing: what an unfinished deployment waits for, and since when; undefined if the newest deployment is over.
 * The message has stored times only: the same state gives the same message. The reason of a bake is Baking until its
 * planned end, whatever it waits for besides.
 */
function progressCondition({ observed, config, state, now }: RolloutContext): NewCondition | undefined {
  const { rollout, bindings, healthChecks } = observed;
  const [head] = state.history;
  if (!head || !isUnfinished(head)) return undefined;
  const { tag } = head.version;
  if (config.problems.length > 0) {
    const text = `Version ${tag} waits for a fix of the problem in condition Ready: until then it neither succeeds nor fails`;
    return trueCondition(PROGRESSING, WAITING_FOR_FIX, text);
  }
  const isRecovery = isInRecovery(state.conditions);
  const isBaking = head.bakeStartTime !== undefined;
  const unappliedObjects = unapplied(head, bindings, rollout);
  const waiting = notReady(healthChecks, head, rollout.metadata.namespace);
  if (isBaking && (config.kuberikCompat || unappliedObjects.length + waiting.length === 0)) {
    const last = bakeUntil(head, config, healthChecks);
    const until = last === undefined ? '' : ` until ${formatTime(last)}`;
    const watches = watchesText(observed, isRecovery);
    return trueCondition(PROGRESSING, 'Baking', `Version ${tag} is baking${until}${watches}`);
  }
  const awaitsApply = unappliedObjects.length > 0;
  const objects = namesOrCount(unappliedObjects.map(targetName), 'objects');
  const checks = checkNames(waiting, goneChecks(head, healthChecks));
  const end = bakeEnd(head, config);
  const atLeast = end === undefined ? '' : `at least until ${formatTime(end)}, and `;
  const inBake = awaitsApply
    ? `Flux has applied it to ${objects}`
    : `${checks} ${waiting.length === 1 ? 'is' : 'are'} Healthy`;
  const beforeBake = awaitsApply
    ? `waits for Flux to apply it to ${objects}, since ${startOf(head)}`
    : `waits for ${checks} to become Healthy, since ${head.appliedTime ?? startOf(head)}`;
  const held = heldText(head, config, gatesThatHold(head, bindings, rollout, now));
  const limit = deadlineText(config, failsAt(head, config, isRecovery), isRecovery);
  const isPlanned = end !== undefined && now < end;
  const reason = isPlanned ? 'Baking' : awaitsApply ? 'WaitingForApply' : 'WaitingForHealth';
  const text = isBaking ? `is baking ${atLeast}until ${inBake}` : beforeBake;
  return trueCondition(PROGRESSING, reason, `Version ${tag} ${text}${held}${limit}`);
}

/** The text about the HealthChecks of a bake that waits only for time. */
function watchesText({ bindings, healthChecks }: Observed, isRecovery: boolean): string {
  if (healthChecks.length > 0) {
    return isRecovery
      ? ' in recovery mode: a failing HealthCheck does not fail the deployment'
      : ': a failing HealthCheck ends the bake';
  }
  return `:${bindings.length > 0 ? '' : ' no Flux object is bound, and'} no HealthCheck is watched`;
}

function startOf(head: HistoryEntry): string {
  return head.lastRetryTimestamp ?? head.timestamp;
}

function heldText(
  { waitingSince }: HistoryEntry,
  { deployTimeout }: BakeConfig,
  closed: ClosedGates | undefined,
): string {
  if (waitingSince === undefined) return '';
  const cause = closed ? areClosed(closed) : HELD;
  return deployTimeout === undefined
    ? `. Held: ${cause}`
    : `. deployTimeout has been paused since ${waitingSince}: ${cause}`;
}

function deadlineText({ deployTimeout }: BakeConfig, deadline: EpochMs | undefined, isRecovery: boolean): string {
  if (deployTimeout === undefined) return '. spec.deployTimeout is not set, so this wait has no time limit';
  if (isRecovery) return '. In recovery mode spec.deployTimeout does not end this wait';
  return deadline === undefined ? '' : `. The deployment fails at ${formatTime(deadline)} (spec.deployTimeout)`;
}

/** @param gone the checks that are no longer watched */
function checkNames(checks: readonly FailedCheck[], gone: readonly Partial<NamespacedName>[]): string {
  const isGone = new Set(gone.map(checkKey));
  const names = checks.map((check) => {
    const key = checkKey(check);
    return `HealthCheck '${key}'${isGone.has(key) ? ' (deleted, or no longer selected)' : ''}`;
  });
  return namesOrCount(names.sort(), 'HealthChecks');
}

/** Names in the message of Progressing. With more it has no names: each change of the message is a write. */
const MAX_NAMES = 3;

function namesOrCount(names: readonly string[], what: string): string {
  if (names.length > MAX_NAMES) return `its ${what} (more than ${MAX_NAMES})`;
  return names.length > 0 ? names.join(', ') : what;
}

// Ready. The texts that clients match are in docs/compatibility.md.

/**
 * The condition Ready; undefined if it stays as it is. A problem hides the state of the deployment while it lasts.
 * @param waits before the first deployment, Ready repeats the first of them
 */
function readyNow(
  context: RolloutContext,
  { choice }: Evaluation,
  waits: readonly Wait[],
  problems: readonly string[],
): NewCondition | undefined {
  const { observed, state } = context;
  const { history, available, conditions } = state;
  const [head] = history;
  const all = [...problems, ...(choice.is === 'impossible' ? [choice.problem] : []), ...otherProblems(context)];
  const isIdle = !isUnfinished(head) && head?.bakeStatus !== 'Failed';
  if (all.length > 0) return falseCondition(READY, 'RolloutFailed', all.join('; '));
  if (available.length === 0 && isIdle && choice.trigger !== 'Manual') return NO_RELEASES;
  const before = findCondition(conditions, READY);
  if (isTemporary(before)) return restoredReady(head, observed.rollout, waits);
  return head && before ? progressReady(head, observed.rollout, before) : undefined;
}

function otherProblems({ observed: { configMapProblem }, state, requests }: RolloutContext): string[] {
  const bypassed = unknownBypass(requests, state.available);
  const unknown = bypassed === undefined ? [] : [unavailableText('bypass-gates', bypassed)];
  const texts = unknown.map((text) => `${text}. To withdraw it, remove the annotation ${BYPASS_ROLLOUT_GATES}`);
  return [...texts, ...(configMapProblem ? [configMapProblem] : [])];
}

const NO_RELEASES: NewCondition = falseCondition(READY, 'RolloutSucceeded', 'No releases available');

/** Whether Ready has reported a problem or a wait, which may be over by now. */
export function isTemporary(condition: Condition | undefined): boolean {
  if (!condition) return true;
  return (
    condition.status === 'False' && ['RolloutFailed', 'RolloutSucceeded', ...READY_REASONS].includes(condition.reason)
  );
}

/** Ready restored from the newest deployment, or from the waits before the first one. */
function restoredReady(head: HistoryEntry | undefined, rollout: Rollout, waits: readonly Wait[]): NewCondition {
  if (!head) return readyOfWaits(waits) ?? falseCondition(READY, 'RolloutSucceeded', 'No release candidates found');
  const message = head.bakeStatusMessage ?? '';
  if (head.bakeStatus === 'Failed') return falseCondition(READY, 'BakeTimeFailed', message || bakeSummary(head));
  if (head.lastRetryTimestamp && head.bakeStatus !== 'Succeeded') {
    return falseCondition(READY, 'BakeTimeFailed', 'The deployment failed and is being retried.');
  }
  // Code reads two messages, both of the Go controller: this one, by which alone its dashboard marks a bake successful,
  // and RESET_MESSAGE of HealthChecks.
  if (message.startsWith(MARKED_SUCCESSFUL)) return trueCondition(READY, 'DeploymentMarkedSuccessful', message);
  if (head.bakeStatus === 'Succeeded' && head.bakeStartTime) return trueCondition(READY, 'BakeTimePassed', message);
  return trueCondition(READY, 'RolloutSucceeded', readyMessage(head, rollout));
}

/** Ready while the newest deployment progresses: its origin, and the state of its bake; undefined if Ready stays. */
function progressReady(head: HistoryEntry, rollout: Rollout, before: Condition): NewCondition | undefined {
  const isApplied = head.bakeStatus === 'Succeeded' && hasNoBake(head, rollout);
  if (head.origin?.includes('Adopted') || !(isUnfinished(head) || isApplied) || before.reason !== 'RolloutSucceeded')
    return undefined;
  return trueCondition(READY, 'RolloutSucceeded', readyMessage(head, rollout));
}
