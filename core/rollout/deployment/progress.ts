/** The progress of a deployment in the Flux objects that are bound to its Rollout, as their FluxBindings report it. */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { FluxBinding, HealthCheck, HistoryEntry, Rollout } from '../../../api/types.ts';
import { type ClosedGates, closureKeys, reportedClosed, unionOfClosed } from '../../gate/closedGates.ts';
import { checkKey, goneChecks, knownHealth } from '../../health/knownHealth.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { type ObjectState, reportedState } from '../../objectGates/objectState.ts';
import { grantCovers } from '../../suspension/bypassGrant.ts';
import {
  HELD_BY_GATE,
  HELD_BY_GATE_WITHOUT_BAKE,
  WAITING_FOR_HEALTH,
  WAITING_TO_BE_APPLIED,
} from './deploymentMessages.ts';
import { checksRevision } from './healthChecks.ts';
import { hasNoBake } from './history.ts';

/** Whether Flux has fetched and applied the deployment in the bound object. */
function hasApplied({ status }: FluxBinding, { metadata }: Rollout, head: HistoryEntry): boolean {
  return (status?.applied ?? []).some(
    ({ rollout, uid, id }) => rollout === metadata.name && uid === metadata.uid && id === (head.id ?? 0),
  );
}

/**
 * The bound objects that have not applied the head. Once all of them have, none counts, except during a bake: an object
 * that is bound meanwhile has to apply the head too.
 */
export function unapplied(head: HistoryEntry, bound: readonly FluxBinding[], rollout: Rollout): readonly FluxBinding[] {
  const counts = head.appliedTime === undefined || head.bakeStatus === 'InProgress';
  return counts ? bound.filter((binding) => !hasApplied(binding, rollout, head)) : [];
}

/**
 * The state of the bound object for the Rollout's newest deployment. A deployment that bypasses the Gates doesn't wait,
 * even before its FluxBindings report the bypass, except for an object that never ran: that stays held.
 */
function boundState({ spec, status = {} }: FluxBinding, rollout: Rollout, now: EpochMs): ObjectState['is'] {
  const state = reportedState(status);
  const mayBypass = state === 'closed' && !spec?.neverReconciled;
  const isGranted = mayBypass && grantCovers(rollout, closureKeys(reportedClosed(status.gates)), now);
  return isGranted ? 'bypassing' : state;
}

/** Whether a closed Gate, or the suspension that it left behind, holds the bound object. */
function isHeld(binding: FluxBinding, rollout: Rollout, now: EpochMs): boolean {
  const state = boundState(binding, rollout, now);
  return state === 'closed' || state === 'opening';
}

/** The closed Gates that hold the newest deployment while it rolls out. */
export function gatesThatHold(
  head: HistoryEntry | undefined,
  bound: readonly FluxBinding[],
  rollout: Rollout,
  now: EpochMs,
): ClosedGates | undefined {
  if (head?.waitingSince === undefined) return undefined;
  const behind = delayingObjects(head, bound, rollout).filter(
    (binding) => boundState(binding, rollout, now) === 'closed',
  );
  return unionOfClosed(behind.map(({ status }) => reportedClosed(status?.gates)));
}

/** The objects that delay the deployment if one of them is held. */
function delayingObjects(head: HistoryEntry, bound: readonly FluxBinding[], rollout: Rollout): readonly FluxBinding[] {
  const unappliedObjects = unapplied(head, bound, rollout);
  // Once all have applied it, a suspended object may keep a HealthCheck Pending.
  return unappliedObjects.length > 0 ? unappliedObjects : bound;
}

/** The name of a bound object for messages: `Kustomization 'my-app'`. */
export function targetName({ spec }: FluxBinding): string {
  return `${spec?.target.kind} '${spec?.target.name}'`;
}

/** The inputs of the progress of a deployment. */
export interface ProgressContext {
  rollout: Rollout;
  bound: readonly FluxBinding[];
  healthChecks: readonly HealthCheck[];
  now: EpochMs;
}

/**
 * The head with the proof of its bound objects: `appliedTime` once all of them have applied it.
 * A closed Gate, or the suspension that it left behind, may hold one of them before the bake or after its bakeTime.
 * `waitingSince` and `waitedSeconds` have the time of that: deployTimeout does not count it.
 */
export function withProgress(
  head: HistoryEntry,
  { rollout, bound, healthChecks, now }: ProgressContext,
  isBakeTimeOver: boolean,
): HistoryEntry {
  const allApplied = bound.length > 0 && bound.every((binding) => hasApplied(binding, rollout, head));
  const isNowApplied = allApplied && head.appliedTime === undefined;
  const proven = isNowApplied ? { ...head, appliedTime: formatTime(now), ...healthAtApply(head, healthChecks) } : head;
  const mayTimeOut = proven.bakeStatus === 'Deploying' || (proven.bakeStatus === 'InProgress' && isBakeTimeOver);
  const isWaiting =
    mayTimeOut && delayingObjects(proven, bound, rollout).some((binding) => isHeld(binding, rollout, now));
  return isWaiting ? startWait(proven, rollout, now) : endWait(proven, rollout, now);
}

/**
 * The HealthChecks' reports that are known when the deployment is applied. Until then the previous version ran: only
 * checks that distinguish versions can have reported an error of this one.
 */
function healthAtApply({ knownHealth: before }: HistoryEntry, checks: readonly HealthCheck[]) {
  if (!before) return {};
  const evaluated = new Set(checks.filter(checksRevision).map(({ metadata }) => checkKey(metadata)));
  const now = knownHealth(checks, before).map((known) => {
    if (!evaluated.has(checkKey(known))) return known;
    const first = before.find((each) => checkKey(each) === checkKey(known));
    return { ...known, lastErrorTime: first?.lastErrorTime };
  });
  return { knownHealth: [...now, ...goneChecks({ knownHealth: before }, checks)] };
}

function startWait(head: HistoryEntry, rollout: Rollout, now: EpochMs): HistoryEntry {
  if (head.waitingSince !== undefined) return head;
  const waiting = { ...head, waitingSince: formatTime(now) };
  if (head.bakeStatus !== 'Deploying') return waiting;
  return { ...waiting, bakeStatusMessage: hasNoBake(head, rollout) ? HELD_BY_GATE_WITHOUT_BAKE : HELD_BY_GATE };
}

/** The deployment after its end. The start of a bake is rounded up: its end must not come before. */
export function endedEntry(
  head: HistoryEntry,
  bakeStatus: 'Succeeded' | 'Failed' | 'Cancelled',
  bakeStatusMessage: string,
  rollout: Rollout,
  now: EpochMs,
): HistoryEntry {
  const bakeEndTime = formatTime(Math.max(now, parseTime(head.bakeStartTime) ?? now));
  return { ...endWait(head, rollout, now), bakeStatus, bakeStatusMessage, bakeEndTime };
}

function endWait(head: HistoryEntry, rollout: Rollout, now: EpochMs): HistoryEntry {
  if (head.waitingSince === undefined) return head;
  const { waitingSince, ...rest } = head;
  const waited = Math.max(0, Math.floor((now - (parseTime(waitingSince) ?? now)) / 1000));
  const waitedSeconds = (head.waitedSeconds ?? 0) + waited;
  const resumed = { ...rest, ...(waitedSeconds > 0 && { waitedSeconds }) };
  if (head.bakeStatus !== 'Deploying') return resumed;
  return { ...resumed, bakeStatusMessage: hasNoBake(head, rollout) ? WAITING_TO_BE_APPLIED : WAITING_FOR_HEALTH };
}
