/** Why a Rollout does not continue, in the sentences of its conditions. */
import {
  DEPLOYMENT_BLOCKED,
  FIRST_DEPLOYMENT_NOT_GATED,
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
import type { Blocker, Rollout } from '../../../api/types.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { pinRecordOf } from '../../../core/record/pinRecord.ts';
import { isBaking } from '../../../core/rollout/deployment/bake.ts';
import { withoutCommands } from '../../../core/text/commands.ts';
import { type Cause, isFailedObject, pinText, type Step } from '../application.ts';
import { hasOwnCondition, kindOfReason } from '../stepKinds.ts';
import { blockerOf, storedBlockers } from './storedBlockers.ts';

/**
 * Conditions of waits, in order of importance. Each reason that begins with WaitingFor is a wait, including
 * those of newer versions.
 */
const WAITS = [DEPLOYMENT_BLOCKED, /^WaitingFor/, PINNED, ROLLED_BACK, PROGRESSING];
const NOTES = [HEALTH_CHECKS_MISSING, HEALTH_CHECKS_LEFT_OUT, STATUS_SHORTENED];

export function causesOf(rollout: Rollout, steps: readonly Step[]): Cause[] {
  const { status } = rollout;
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const [head] = status?.history ?? [];
  const is = ({ type }: Condition, wanted: string | RegExp) =>
    typeof wanted === 'string' ? type === wanted : wanted.test(type);
  const ready = conditions.find(({ type }) => type === READY);
  const problems = conditions.filter(({ type, status: is, reason }) => {
    if (type === READY)
      return (
        is === 'False' && (reason === 'RolloutFailed' || (reason === 'BakeTimeFailed' && head?.bakeStatus === 'Failed'))
      );
    return type === RELEASES_UPDATED && is === 'False';
  });
  const waits = WAITS.flatMap((wanted) => conditions.filter((each) => is(each, wanted) && each.status === 'True'));
  // Not for the present: the same gates hold the version that waits now.
  const past = status?.pendingVersion === undefined ? [FIRST_DEPLOYMENT_NOT_GATED] : [];
  const notes = [...NOTES, ...past].flatMap((wanted) =>
    conditions.filter((each) => is(each, wanted) && each.status === 'True'),
  );
  const idle = waits.length === 0 && problems.length === 0 && ready?.status === 'False' ? [ready] : [];
  const [broken, failed] = [
    problems.filter(({ reason }) => reason !== 'BakeTimeFailed'),
    problems.filter(({ reason }) => reason === 'BakeTimeFailed'),
  ];
  const causesFrom = (conditions: readonly Condition[]) =>
    conditions
      .filter(({ message }) => message !== '')
      .flatMap((condition) => gateCauses(rollout, condition, steps) ?? [causeOf(condition, steps)]);
  const ofFlux = fluxCauses(steps);
  // A failed object stops its deployment, and the next version waits for that first.
  const isFirst = isBaking(head) || status?.pendingVersion === undefined;
  const causes = [
    ...causesFrom(broken),
    ...(isFirst ? ofFlux : []),
    ...causesFrom([...waits, ...failed]),
    ...(isFirst ? [] : ofFlux),
    ...(status?.pendingVersion === undefined ? lastingCauses(rollout, steps) : []),
    ...(isBaking(head) || status?.pendingVersion !== undefined ? [] : notReadyCauses(steps)),
    ...causesFrom([...idle, ...notes]),
  ];
  return causes.flatMap((cause) => (cause.code === 'WantedVersion' ? [cause, ...pinCauses(rollout)] : [cause]));
}

/**
 * Causes for Gates, one each, the most important first: the condition is one long sentence, and hides the user who
 * closed a Gate of another namespace.
 */
function gateCauses(rollout: Rollout, { type, reason }: Condition, steps: readonly Step[]): Cause[] | undefined {
  const closed = steps.filter(({ kind, state }) => kind === 'gate' && state === 'blocks');
  if (type !== DEPLOYMENT_BLOCKED || reason !== GATE_CLOSED || closed.length === 0) return undefined;
  const others = (storedBlockers(rollout, rollout.status?.pendingVersion) ?? [])
    .filter(({ type }) => type !== 'Gate' && !hasOwnCondition(type))
    .map((blocker) => ({ code: blocker.reason, step: steps.find((step) => isStepOf(step, blocker)) }));
  // Without a step only the condition has details.
  if (others.some(({ step }) => step === undefined)) return undefined;
  const causes = [...closed.map((step) => ({ code: GATE_CLOSED, step })), ...others];
  return causes.flatMap(({ code, step }) => (step ? [{ code, text: stepSentence(step), step: step.id }] : []));
}

/** Whether the step is the blocker's. A blocker without an object has a step of its kind. */
function isStepOf({ state, kind, object: its }: Step, { object, reason }: Blocker): boolean {
  if (state === 'passed') return false;
  if (!object) return kind === kindOfReason(reason);
  const { namespace = '', name } = object;
  return its?.kind === object.kind && its.namespace === namespace && its.name === name;
}

/** A step as a sentence: `Gate platform/freeze is closed by sre: INC-7`, `Bake of 1.0.0: baking in progress`. */
function stepSentence({ kind, title, detail = '', until, unread, missing }: Step): string {
  if (kind !== 'gate' || unread) return `${title}: ${detail}`;
  if (missing) return `${title} ${detail}`;
  return `${title} is ${detail}${until === undefined ? '' : `, until ${until}`}`;
}

/** Causes that would hold every version, reported before one waits. */
function lastingCauses(rollout: Rollout, steps: readonly Step[]): Cause[] {
  if (findCondition(rollout.status?.conditions, WAITING_FOR_ROLLOUTS)?.status === 'True') return [];
  const isLasting = blockerOf(storedBlockers(rollout, undefined), 'Upstream') !== undefined;
  const stages = isLasting ? steps.filter(({ kind, state }) => kind === 'stage' && state === 'blocks') : [];
  return stages.map((step) => ({ code: 'RolloutNotFound', text: stepSentence(step), step: step.id }));
}

/** Bound objects that name a Rollout which does not exist; not those that a closed gate holds. */
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

/** Failures that Flux reports on the objects that take the version. */
function fluxCauses(steps: readonly Step[]): Cause[] {
  return steps.filter(isFailedObject).map(({ id, title, detail = '' }) => ({
    code: 'FluxObjectFailed',
    text: `${title} has failed: ${detail}`,
    step: id,
  }));
}

function causeOf({ reason, message }: Condition, steps: readonly Step[]): Cause {
  const step = stepOf(reason, steps);
  return { code: reason, text: withoutCommands(message), ...(step && { step: step.id }) };
}

function stepOf(reason: string, steps: readonly Step[]): Step | undefined {
  return steps.find(({ state, kind }) => state !== 'passed' && kind === kindOfReason(reason));
}
