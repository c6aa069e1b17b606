/** Why it does not go on, in the sentences of the Rollout's own conditions. */
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
} from '../../../api/conditions.ts';
import type { Condition } from '../../../api/kubernetes.ts';
import type { Rollout } from '../../../api/types.ts';
import { isBaking } from '../../../core/deployment/bake.ts';
import { WAITING_FOR_APPROVALS } from '../../../core/evaluation/approvals.ts';
import { pinRecordOf } from '../../../core/evaluation/pinRecord.ts';
import type { Cause, Step } from '../application.ts';
import { pinText } from '../pinText.ts';
import { isFailedObject } from '../step.ts';

/** In the order in which they matter. Whatever begins with WaitingFor is a wait, also one that this version has never heard of. */
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
  // Of the past, and the same gates hold what waits now.
  const past = status?.pendingVersion === undefined ? [FIRST_DEPLOYMENT_NOT_GATED] : [];
  const notes = [...NOTES, ...past].flatMap((wanted) =>
    conditions.filter((each) => is(each, wanted) && each.status === 'True'),
  );
  const idle = waits.length === 0 && problems.length === 0 && ready?.status === 'False' ? [ready] : [];
  const [broken, failed] = [
    problems.filter(({ reason }) => reason !== 'BakeTimeFailed'),
    problems.filter(({ reason }) => reason === 'BakeTimeFailed'),
  ];
  const said = (conditions: readonly Condition[]) =>
    conditions.filter(({ message }) => message !== '').map((condition) => causeOf(condition, steps));
  const ofFlux = fluxCauses(steps);
  // Behind a failed object nothing of its deployment goes on; what waits for something else waits for that first.
  const isFirst = isBaking(head) || status?.pendingVersion === undefined;
  const causes = [
    ...said(broken),
    ...(isFirst ? ofFlux : []),
    ...said([...waits, ...failed]),
    ...(isFirst ? [] : ofFlux),
    ...said([...idle, ...notes]),
  ];
  return causes.flatMap((cause) => {
    if (cause.code === GATE_CLOSED) return [cause, ...closers(cause, steps)];
    return cause.code === 'WantedVersion' ? [cause, ...pinner(rollout)] : [cause];
  });
}

function pinner(rollout: Rollout): Cause[] {
  const pin = pinRecordOf(rollout);
  return pin?.version === undefined ? [] : [{ code: 'PinnedBy', text: pinText(pin) }];
}

/** What Flux reports of the objects that take the version. */
function fluxCauses(steps: readonly Step[]): Cause[] {
  return steps.filter(isFailedObject).map(({ id, title, detail = '' }) => ({
    code: 'FluxObjectFailed',
    text: `${title} has failed: ${detail}`,
    step: id,
  }));
}

/** Everybody in the namespace reads the condition, and it keeps back who closed a Gate of another one: the reader may read that Gate. */
function closers({ text }: Cause, steps: readonly Step[]): Cause[] {
  return steps
    .filter(({ kind, state, by }) => kind === 'gate' && state === 'blocks' && by && !text.includes(`closed by ${by}`))
    .map(({ id, title, detail }) => ({ code: 'ClosedBy', text: `${title} was ${detail}`, step: id }));
}

function causeOf({ reason, message }: Condition, steps: readonly Step[]): Cause {
  const step = steps.find(({ state, kind }) => state !== 'passed' && kind === KIND_OF[reason]);
  return { code: reason, text: message, ...(step && { step: step.id }) };
}

const KIND_OF: Record<string, Step['kind']> = {
  [GATE_CLOSED]: 'gate',
  RolloutGatesBlocking: 'rolloutGate',
  [WAITING_FOR_APPROVALS]: 'rolloutGate',
  NotSucceeded: 'stage',
  RolloutNotFound: 'stage',
  UnhealthyHealthChecks: 'check',
  PreviousDeploymentFailed: 'failure',
  BakeInProgress: 'bake',
  BakeTimeFailed: 'bake',
  WaitingForCopy: 'copy',
  WaitingForHealth: 'check',
  WaitingForApply: 'binding',
  Baking: 'bake',
  ReleaseTooYoung: 'age',
  NoSlot: 'budget',
  VersionHeld: 'budget',
  BudgetClosed: 'budget',
};
