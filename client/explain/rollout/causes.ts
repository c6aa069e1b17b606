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
  WAITING_FOR_ROLLOUTS,
} from '../../../api/conditions.ts';
import type { Condition } from '../../../api/kubernetes.ts';
import type { Blocker, HistoryEntry, Rollout } from '../../../api/types.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { pinRecordOf } from '../../../core/record/pinAndSchedule.ts';
import { isUnfinished } from '../../../core/rollout/deployment/history.ts';
import { withoutCommands } from '../../../core/text/commands.ts';
import { type Cause, isFailedObject, pinText, type Step } from '../application.ts';
import { hasOwnCondition, kindOfReason } from '../stepKinds.ts';
import { blockerOf, storedBlockers } from './storedBlockers.ts';

/**
 * The types of conditions that report waits, the most important first. Every type that begins with WaitingFor is a
 * wait, even one of a newer version of this software.
 */
const WAITS = [DEPLOYMENT_BLOCKED, /^WaitingFor/, ROLLED_BACK, PROGRESSING];
const NOTES = [HEALTH_CHECKS_MISSING, HEALTH_CHECKS_LEFT_OUT, STATUS_SHORTENED];

/** @param closed the steps of the Gates that hold the deployment while it rolls out */
export function causesOf(rollout: Rollout, steps: readonly Step[], closed: readonly Step[]): Cause[] {
  const { status } = rollout;
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const [head] = status?.history ?? [];
  const isWaiting = status?.pendingVersion !== undefined;
  const { broken, waits, failed, pins, idle, notes } = sortedConditions(conditions, head);
  const causesFrom = (chosen: readonly Condition[]) =>
    chosen
      .filter(({ message }) => message !== '')
      .flatMap((condition) => gateCauses(rollout, condition, steps) ?? [causeOf(condition, steps)]);
  const isNamed = (step: string | undefined) => closed.some(({ id }) => id === step);
  const ofFlux = fluxCauses(steps);
  // The next version waits for the present deployment, which a failed object stops: that object is the first cause.
  const isFluxFirst = isUnfinished(head) || !isWaiting;
  const causes = [
    ...causesFrom(broken),
    ...(isFluxFirst ? ofFlux : []),
    ...closedCauses(closed),
    ...causesFrom([...waits, ...failed, ...pins]).filter(({ code, step }) => code !== GATE_CLOSED || !isNamed(step)),
    ...(isFluxFirst ? [] : ofFlux),
    ...(isWaiting ? [] : lastingCauses(rollout, steps)),
    ...causesFrom(idle),
    ...(isUnfinished(head) || isWaiting ? [] : notReadyCauses(steps)),
    ...causesFrom(notes),
  ];
  return causes.flatMap((cause) => (cause.code === 'WantedVersion' ? [cause, ...pinCauses(rollout)] : [cause]));
}

/** The conditions by their meaning for causes. `idle`: Ready, if it is False and no other condition has the cause. */
function sortedConditions(conditions: readonly Condition[], head: HistoryEntry | undefined) {
  const whileTrue = (types: readonly (string | RegExp)[]) =>
    types.flatMap((wanted) =>
      conditions.filter(
        ({ type, status }) => status === 'True' && (typeof wanted === 'string' ? type === wanted : wanted.test(type)),
      ),
    );
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
    // Lasting, and no cause of a wait: Progressing says it during a bake.
    notes: whileTrue(NOTES).filter(({ reason }) => reason !== 'NoSelector'),
  };
}

/**
 * The causes of condition DeploymentBlocked, one for each Gate that is closed, or whose opening the Rollout's status
 * doesn't show yet, and then those without a condition of their own.
 * The condition is one long sentence, and hides the user who closed a Gate of another namespace. undefined: only the
 * condition has all causes.
 */
function gateCauses(rollout: Rollout, { type, reason }: Condition, steps: readonly Step[]): Cause[] | undefined {
  const closed = steps.filter(({ kind, state }) => kind === 'gate' && (state === 'blocks' || state === 'waits'));
  if (type !== DEPLOYMENT_BLOCKED || reason !== GATE_CLOSED || closed.length === 0) return undefined;
  const others = storedBlockers(rollout, rollout.status?.pendingVersion)
    .filter(({ type }) => type !== 'Gate' && !hasOwnCondition(type))
    .map((blocker) => ({ code: blocker.reason, step: steps.find((step) => isStepOf(step, blocker)) }));
  if (others.some(({ step }) => step === undefined)) return undefined;
  const ofOthers = others.flatMap(({ code, step }) =>
    step ? [{ code, text: stepSentence(step), step: step.id }] : [],
  );
  return [...closedCauses(closed), ...ofOthers];
}

function closedCauses(closed: readonly Step[]): Cause[] {
  return closed.map((step) => ({ code: GATE_CLOSED, text: stepSentence(step), step: step.id }));
}

/** Whether the step is that of the blocker: of its object, or without one of its kind. */
function isStepOf(step: Step, { object, reason }: Blocker): boolean {
  if (step.state === 'passed') return false;
  if (!object) return step.kind === kindOfReason(reason);
  const { kind, namespace = '', name } = object;
  return step.object?.kind === kind && step.object.namespace === namespace && step.object.name === name;
}

/** The step as a sentence: `Gate platform/freeze is closed by sre: INC-7`, `Bake of 1.0.0: baking in progress`. */
function stepSentence({ kind, title, detail = '', until, unread, missing }: Step): string {
  if (kind !== 'gate' || unread) return `${title}: ${detail}`;
  if (missing) return `${title} ${detail}`;
  return `${title} is ${detail}${until === undefined ? '' : `, until ${until}`}`;
}

/** The causes that would hold every version, for a Rollout of which no version waits. */
function lastingCauses(rollout: Rollout, steps: readonly Step[]): Cause[] {
  if (findCondition(rollout.status?.conditions, WAITING_FOR_ROLLOUTS)?.status === 'True') return [];
  const isLasting = blockerOf(storedBlockers(rollout, undefined), 'Upstream') !== undefined;
  const missing = isLasting ? steps.filter(({ kind, state }) => kind === 'upstream' && state === 'blocks') : [];
  return missing.map((step) => ({ code: 'RolloutNotFound', text: stepSentence(step), step: step.id }));
}

/** The causes about bound objects that are not ready; empty if a closed Gate may be what holds them. */
function notReadyCauses(steps: readonly Step[]): Cause[] {
  if (steps.some(({ kind, state }) => kind === 'gate' && state === 'blocks')) return [];
  return steps
    .filter(({ kind, state }) => kind === 'binding' && state === 'blocks')
    .map((step) => ({ code: 'ObjectNotReady', text: stepSentence(step), step: step.id }));
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

function causeOf({ reason, message }: Condition, steps: readonly Step[]): Cause {
  const step = steps.find(({ state, kind }) => state !== 'passed' && kind === kindOfReason(reason));
  return { code: reason, text: withoutCommands(message), ...(step && { step: step.id }) };
}
