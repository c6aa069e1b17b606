/** Why a Rollout does not continue, in the sentences of its conditions. */
import {
  DEPLOYMENT_BLOCKED,
  GATE_CLOSED,
  HEALTH_CHECKS_LEFT_OUT,
  HEALTH_CHECKS_MISSING,
  PINNED,
  PROGRESSING,
  READY,
  RELEASES_UPDATED,
  ROLLED_BACK,
  STATUS_SHORTENED,
  WAITING_FOR_BUDGET,
  WAITING_FOR_ROLLOUT_GATES,
  WAITING_FOR_ROLLOUTS,
} from '../../../api/conditions.ts';
import type { Condition } from '../../../api/kubernetes.ts';
import type { Blocker, HistoryEntry, Rollout } from '../../../api/types.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { pinRecordOf } from '../../../core/record/pinAndSchedule.ts';
import { isUnfinished } from '../../../core/rollout/deployment/history.ts';
import { WAIT_KINDS } from '../../../core/rollout/waits.ts';
import { withoutCommands } from '../../../core/text/commands.ts';
import { type Cause, isFailedObject, pinText, type Step } from '../application.ts';
import { STEP_KINDS } from '../stepKinds.ts';
import { isAbout, storedBlockers } from './storedBlockers.ts';

/** The types of conditions about a wait, the most important first. */
const WAITS = [
  DEPLOYMENT_BLOCKED,
  WAITING_FOR_ROLLOUTS,
  WAITING_FOR_ROLLOUT_GATES,
  WAITING_FOR_BUDGET,
  ROLLED_BACK,
  PROGRESSING,
];
const NOTES = [HEALTH_CHECKS_MISSING, HEALTH_CHECKS_LEFT_OUT, STATUS_SHORTENED];

/** @param closed the steps of the Gates that hold the deployment while it rolls out */
export function causesOf(rollout: Rollout, steps: readonly Step[], closed: readonly Step[]): Cause[] {
  const { status } = rollout;
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const [head] = status?.history ?? [];
  const isWaiting = status?.pendingVersion !== undefined;
  const blockers = storedBlockers(rollout, status?.pendingVersion);
  const { broken, waits, failed, pins, idle, notes } = sortedConditions(conditions, head);
  const causesFrom = (chosen: readonly Condition[]) =>
    chosen
      .filter(({ message }) => message !== '')
      .flatMap((condition) => causesOfCondition(condition, blockers, steps));
  const isNamed = (step: string | undefined) => closed.some(({ id }) => id === step);
  const ofFlux = fluxCauses(steps);
  // The next version waits for the present deployment, which a failed object stops: that object is the first cause.
  const isFluxFirst = isUnfinished(head) || !isWaiting;
  const causes = [
    ...causesFrom(broken),
    ...(isFluxFirst ? ofFlux : []),
    ...closed.map((step) => stepCause(GATE_CLOSED, step)),
    ...causesFrom([...waits, ...failed, ...pins]).filter(({ code, step }) => code !== GATE_CLOSED || !isNamed(step)),
    ...(isFluxFirst ? [] : ofFlux),
    ...(isWaiting ? [] : lastingCauses(rollout, blockers, steps)),
    ...causesFrom(idle),
    ...(isUnfinished(head) || isWaiting ? [] : notReadyCauses(steps)),
    ...causesFrom(notes),
  ];
  return causes.flatMap((cause) => (cause.code === 'WantedVersion' ? [cause, ...pinCauses(rollout)] : [cause]));
}

/** The conditions by their meaning for causes. `idle`: Ready, if it is False and no other condition has the cause. */
function sortedConditions(conditions: readonly Condition[], head: HistoryEntry | undefined) {
  const whileTrue = (types: readonly string[]) =>
    types.flatMap((wanted) => conditions.filter(({ type, status }) => status === 'True' && type === wanted));
  const [ready] = conditions.filter(({ type, status }) => type === READY && status === 'False');
  const unread = conditions.filter(({ type, status }) => type === RELEASES_UPDATED && status === 'False');
  const broken = conditions.filter(
    (each) => unread.includes(each) || (each === ready && ready.reason === 'RolloutFailed'),
  );
  const failed = ready?.reason === 'BakeTimeFailed' && head?.bakeStatus === 'Failed' ? [ready] : [];
  const waits = whileTrue(WAITS);
  const pins = whileTrue([PINNED]);
  const isExplained = [...waits, ...broken, ...failed, ...pins].length > 0;
  return {
    broken,
    waits,
    failed,
    // A pin holds other versions: the state of the pinned one comes first.
    pins,
    idle: ready && !isExplained ? [ready] : [],
    // NoSelector lasts, and is no cause of a wait. During a bake, Progressing contains it.
    notes: whileTrue(NOTES).filter(({ reason }) => reason !== 'NoSelector'),
  };
}

/**
 * The causes of a condition: one with its message; or one for each blocker, if Gates are among them and all have steps:
 * the message is one long sentence then, and hides the user who closed a Gate of another namespace.
 */
function causesOfCondition(
  { type, reason, message }: Condition,
  blockers: readonly Blocker[],
  steps: readonly Step[],
): Cause[] {
  const reported = blockers.filter((each) => WAIT_KINDS[each.type]?.condition === type);
  const each = reported.map((blocker) => ({ code: blocker.reason, step: stepOf(blocker, steps) }));
  const causes = each.flatMap(({ code, step }) => (step ? [stepCause(code, step)] : []));
  if (reason === GATE_CLOSED && causes.length > 0 && causes.length === reported.length) return causes;
  const step = (each.find(({ code }) => code === reason) ?? each[0])?.step?.id;
  return [{ code: reason, text: withoutCommands(message), ...(step && { step }) }];
}

/** The step of the blocker: of its object, or without one of its kind. */
function stepOf(blocker: Blocker, steps: readonly Step[]): Step | undefined {
  return steps
    .filter(({ state, kind }) => state !== 'passed' && STEP_KINDS[kind].blockers.includes(blocker.type))
    .find(({ object }) => !blocker.object || (object && isAbout(blocker, object)));
}

function stepCause(code: string, step: Step): Cause {
  return { code, text: stepSentence(step), step: step.id };
}

/** The step as a sentence: `Gate platform/freeze is closed by sre: INC-7`, `Bake of 1.0.0: baking in progress`. */
function stepSentence({ kind, title, detail = '', until, unread, missing }: Step): string {
  if (kind !== 'gate' || unread) return `${title}: ${detail}`;
  if (missing) return `${title} ${detail}`;
  return `${title} is ${detail}${until === undefined ? '' : `, until ${until}`}`;
}

/** The causes that would hold every version, for a Rollout of which no version waits. */
function lastingCauses({ status }: Rollout, blockers: readonly Blocker[], steps: readonly Step[]): Cause[] {
  // A broken order of upstream Rollouts has the condition.
  if (findCondition(status?.conditions, WAITING_FOR_ROLLOUTS)?.status === 'True') return [];
  return blockers.flatMap((blocker) => {
    const step = blocker.type === 'Upstream' && stepOf(blocker, steps);
    return step ? [stepCause(blocker.reason, step)] : [];
  });
}

/** The causes about bound objects that are not ready; empty if a closed Gate may be what holds them. */
function notReadyCauses(steps: readonly Step[]): Cause[] {
  if (steps.some(({ kind, state }) => kind === 'gate' && state === 'blocks')) return [];
  return steps
    .filter(({ kind, state }) => kind === 'binding' && state === 'blocks')
    .map((step) => stepCause('ObjectNotReady', step));
}

function pinCauses(rollout: Rollout): Cause[] {
  const pin = pinRecordOf(rollout);
  return pin?.version === undefined ? [] : [{ code: 'PinnedBy', text: pinText(pin) }];
}

/** The causes about failures that Flux reports on bound objects. */
function fluxCauses(steps: readonly Step[]): Cause[] {
  return steps.filter(isFailedObject).map(({ id, title, detail = '' }) => ({
    code: 'FluxObjectFailed',
    text: `${title} has failed: ${detail}`,
    step: id,
  }));
}
