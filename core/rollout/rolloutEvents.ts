/** Events of a Rollout: one for each change, not one for each sync. */
import {
  COPIED,
  DEPLOYMENT_BLOCKED,
  GATES_PASSING,
  READY,
  WAITING_FOR_BUDGET,
  WAITING_FOR_ROLLOUT_GATES,
  WAITING_FOR_ROLLOUTS,
} from '../../api/conditions.ts';
import type { Condition } from '../../api/kubernetes.ts';
import type { RolloutStatus } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { type NewEvent, ORDER } from '../kube/events.ts';
import type { DeploymentDecision, Evaluation } from './decideDeployment.ts';
import { unhealthyMessage } from './deployment/healthChecks.ts';
import type { RolloutContext } from './evaluation/observed.ts';
import { isTemporary } from './rolloutConditions.ts';
import { READY_REASONS, WAIT_KINDS, type Wait, waitCondition } from './waits.ts';

/**
 * The Events of a change. It is found between the statuses as they are stored, which may be shortened; otherwise each
 * sync would find what one of them lacks.
 */
export function changeEvents(decision: DeploymentDecision, waits: readonly Wait[], status: RolloutStatus): NewEvent[] {
  const { context, evaluation } = decision;
  const stored = context.observed.rollout.status;
  // A blocker gets another Event when it blocks another version.
  const isNewBlock =
    isChanged(DEPLOYMENT_BLOCKED, stored, status) || stored?.pendingVersion !== evaluation.pendingVersion;
  return [
    ...rejectionEvents(context, status),
    ...withdrawalEvents(decision, status),
    ...copyEvents(decision),
    ...conditionEvents(context, status),
    ...(isNewBlock ? blockEvents(evaluation, waits) : []),
  ];
}

/** An Event without `about` gets the status revision, and sorts before the Events of deployments. */
export function withOrder(events: readonly NewEvent[], { revision = 0 }: RolloutStatus): NewEvent[] {
  const order = `${ORDER.rolloutStatus}${revision.toString(16).padStart(8, '0')}`;
  return events.map((event) => ({
    ...event,
    ...(event.about === undefined
      ? { about: `revision-${revision}`, order }
      : { order: event.order ?? ORDER.rolloutStatus }),
  }));
}

function rejectionEvents({ observed: { rollout } }: RolloutContext, status: RolloutStatus): NewEvent[] {
  const known = rollout.status?.rejectedReleases ?? [];
  return (status.rejectedReleases ?? [])
    .filter(({ tag, gate }) => !known.some((before) => before.tag === tag && before.gate === gate))
    .map(({ tag, gate, timestamp }) => ({
      type: 'Warning',
      reason: 'ReleaseRejected',
      message: `Version ${tag} is rejected by RolloutGate '${gate}'`,
      about: `${tag}/${gate}/${timestamp}`,
    }));
}

/** Events for releases that have waited and may no longer be deployed. */
function withdrawalEvents(
  { context, evaluation: { withdrawn } }: DeploymentDecision,
  { revision }: RolloutStatus,
): NewEvent[] {
  const { status: stored } = context.observed.rollout;
  const waited = new Set(stored?.releaseCandidates?.map(({ tag }) => tag));
  const known = new Set(stored?.withdrawnReleases?.map(({ tag }) => tag));
  return withdrawn
    .filter(({ tag }) => waited.has(tag) && !known.has(tag))
    .map(({ tag, reason }) => ({
      type: 'Normal',
      reason: 'ReleaseWithdrawn',
      message: `Version ${tag} can no longer be deployed: ${reason}`,
      about: `${tag}/${revision}`,
    }));
}

/** Events for a finished copy, once, and for a copy that fails: it stays failed until a user acts. */
function copyEvents({ context, evaluation: { copy } }: DeploymentDecision): NewEvent[] {
  const { status: stored } = context.observed.rollout;
  const copied = findCondition(context.state.conditions, COPIED);
  if (!copy || !copied) return [];
  if (copy.stored && copy.stored !== stored?.copy) {
    return [{ type: 'Normal', reason: 'ReleaseCopied', message: copied.message }];
  }
  const before = findCondition(stored?.conditions, COPIED);
  const isNew = copied.reason === 'CopyFailed' && before?.reason !== 'CopyFailed';
  return isNew ? [eventOf('Warning', copied)] : [];
}

/** The Events of changed conditions, except DeploymentBlocked: see `blockEvents`. */
const CHANGE_EVENTS: readonly [type: string, eventOf: (condition: Condition) => NewEvent | undefined][] = [
  [GATES_PASSING, (gates) => eventOf(gates.status === 'True' ? 'Normal' : 'Warning', gates)],
  [WAITING_FOR_ROLLOUT_GATES, waitEvent],
  // A wait that Ready repeats has an Event of its own condition.
  [READY, (ready) => (isTemporary(ready) && !READY_REASONS.includes(ready.reason) ? readyEvent(ready) : undefined)],
  [WAITING_FOR_ROLLOUTS, waitEvent],
  // The budget itself reports a version that it blocks, once for all waiting Rollouts.
  [WAITING_FOR_BUDGET, waitEvent],
];

/** The state has the conditions with their whole messages, which `status` may have shortened. */
function conditionEvents({ observed, state }: RolloutContext, status: RolloutStatus): NewEvent[] {
  return CHANGE_EVENTS.flatMap(([type, eventOf]) => {
    const condition = findCondition(state.conditions, type);
    return (condition && isChanged(type, observed.rollout.status, status) && eventOf(condition)) || [];
  });
}

function isChanged(type: string, stored: RolloutStatus | undefined, status: RolloutStatus): boolean {
  const [before, after] = [stored, status].map((each) => findCondition(each?.conditions, type));
  return (['status', 'reason', 'message'] as const).some((field) => before?.[field] !== after?.[field]);
}

/** The reasons of waits that end by themselves. */
const NORMAL_WAITS: readonly string[] = ['RolloutGatesBlocking', 'NotSucceeded', 'NoSlot'];
/** The reasons of waits for which no notification is sent. */
const QUIET_WAITS: readonly string[] = ['NotSucceeded', 'NoSlot', 'VersionBlocked'];

function waitEvent({ type, reason, message }: Condition): NewEvent {
  const isNormal = NORMAL_WAITS.includes(reason);
  return { type: isNormal ? 'Normal' : 'Warning', reason: type, message, quiet: QUIET_WAITS.includes(reason) };
}

/** The Event for Ready. Without releases Ready has the Go controller's reason, which reads like success. */
function readyEvent(ready: Condition): NewEvent {
  if (ready.reason !== 'RolloutSucceeded') return eventOf('Warning', ready);
  return { type: 'Normal', reason: 'NoReleases', message: ready.message };
}

/** Events for DeploymentBlocked. Health gets one only if no bake, and no wait with an Event of its own, also blocks. */
function blockEvents({ choice, blockers, unhealthyChecks: [check] }: Evaluation, waits: readonly Wait[]): NewEvent[] {
  const wait = waits.find(({ type }) => WAIT_KINDS[type].hasEvent);
  if (wait) {
    const { message, commands = [] } = waitCondition(DEPLOYMENT_BLOCKED, waits)!;
    return [{ type: 'Normal', reason: wait.reason, message, commands }];
  }
  const types = new Set(blockers.map(({ type }) => type));
  const isNext = choice.is === 'next' && !types.has('RolloutGate') && !types.has('Bake');
  if (!isNext || !types.has('Health') || !check) return [];
  return [{ type: 'Warning', reason: 'HealthCheckBlocking', message: unhealthyMessage(check) }];
}

function eventOf(type: NewEvent['type'], { reason, message }: Condition): NewEvent {
  return { type, reason, message };
}
