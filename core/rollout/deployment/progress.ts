/** How far a deployment has come in the Flux objects that are bound to its Rollout, as their FluxBindings report it. */
import { FLUX_BINDINGS } from '../../../api/kinds.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { FluxBinding, HealthCheck, HistoryEntry, Rollout } from '../../../api/types.ts';
import { closedClosings } from '../../binding/bindingReport.ts';
import { isHeld } from '../../binding/trigger.ts';
import { checkKey, goneChecks, knownHealth } from '../../health/known.ts';
import { objectName } from '../../kube/names.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { bypassesGates } from '../../suspension/bypassGrant.ts';
import { HELD_ON_ITS_WAY, UNWATCHED_HELD, WAITING_FOR_HEALTH, WAITING_TO_BE_APPLIED } from './deploymentMessages.ts';
import { checksRevision } from './healthChecks.ts';
import { hasNoBake } from './withoutBake.ts';

export function boundTo({ metadata }: Rollout, bindings: readonly FluxBinding[]): FluxBinding[] {
  return bindings.filter(
    (binding) =>
      binding.metadata.namespace === metadata.namespace &&
      !binding.metadata.deletionTimestamp &&
      binding.spec?.pins?.some(({ rollout }) => rollout === metadata.name),
  );
}

/** A bound object that has no FluxBinding yet: nothing is proven of it. */
export function unseenBinding(rollout: Rollout, kind: string, name: string): FluxBinding {
  return {
    apiVersion: FLUX_BINDINGS.apiVersion,
    kind: 'FluxBinding',
    metadata: { name: objectName(kind, name), namespace: rollout.metadata.namespace ?? '' },
    spec: {
      target: { apiVersion: '', kind, name, uid: '' },
      pins: [{ rollout: rollout.metadata.name ?? '' }],
    },
  };
}

/** Flux was seen to have fetched and applied the deployment in the bound object. */
export function hasApplied({ status }: FluxBinding, { metadata }: Rollout, head: HistoryEntry): boolean {
  return (status?.applied ?? []).some(
    ({ rollout, uid, id }) => rollout === metadata.name && uid === metadata.uid && id === (head.id ?? 0),
  );
}

/** The bound objects that have not proved the head; none once all of them have. */
export function unapplied(head: HistoryEntry, bound: readonly FluxBinding[], rollout: Rollout): readonly FluxBinding[] {
  return head.appliedTime === undefined ? bound.filter((binding) => !hasApplied(binding, rollout, head)) : [];
}

/** `Kustomization 'my-app'`. */
export function targetName({ spec }: FluxBinding): string {
  return `${spec?.target.kind} '${spec?.target.name}'`;
}

/**
 * The head with what its bound objects prove: `appliedTime` once all of them have it, and, until a bake starts, the
 * time a closed Gate, or the suspension it left behind, holds it up in one of them, which deployTimeout does not count.
 */
export function withProgress(
  head: HistoryEntry,
  bound: readonly FluxBinding[],
  rollout: Rollout,
  checks: readonly HealthCheck[],
  now: EpochMs,
): HistoryEntry {
  const missing = bound.filter((binding) => !hasApplied(binding, rollout, head));
  const allApplied = bound.length > 0 && missing.length === 0;
  const isNowApplied = allApplied && head.appliedTime === undefined;
  const proven = isNowApplied ? { ...head, appliedTime: formatTime(now), ...healthAtApply(head, checks) } : head;
  const underWay =
    proven.bakeStatus === 'Deploying' && proven.bakeStartTime === undefined && proven.appliedTime === undefined;
  // Right after a bypassed deployment is committed, its bindings do not have it yet.
  const waits = ({ status }: FluxBinding) =>
    status?.awaits || (isHeld(status) && !bypassesGates(rollout, closedClosings(status?.gates), now));
  const held = underWay && missing.some(waits);
  return held ? startWait(proven, rollout, now) : endWait(proven, rollout, now);
}

/**
 * Until then the previous version ran. Only a check that distinguishes versions can have reported an error of this one.
 */
function healthAtApply({ knownHealth: before }: HistoryEntry, checks: readonly HealthCheck[]) {
  if (!before) return {};
  const evaluated = new Set(checks.filter(checksRevision).map(({ metadata }) => checkKey(metadata)));
  const now = knownHealth(checks, before).map(({ lastErrorTime, ...known }) => {
    if (!evaluated.has(checkKey(known))) return { ...known, ...(lastErrorTime && { lastErrorTime }) };
    const first = before.find((each) => checkKey(each) === checkKey(known));
    return { ...known, ...(first?.lastErrorTime && { lastErrorTime: first.lastErrorTime }) };
  });
  return { knownHealth: [...now, ...goneChecks({ knownHealth: before }, checks)] };
}

function startWait(head: HistoryEntry, rollout: Rollout, now: EpochMs): HistoryEntry {
  if (head.waitingSince !== undefined) return head;
  const bakeStatusMessage = hasNoBake(head, rollout) ? UNWATCHED_HELD : HELD_ON_ITS_WAY;
  return { ...head, bakeStatusMessage, waitingSince: formatTime(now) };
}

export function endWait(head: HistoryEntry, rollout: Rollout, now: EpochMs): HistoryEntry {
  if (head.waitingSince === undefined) return head;
  const { waitingSince, ...rest } = head;
  const waited = Math.max(0, Math.floor((now - (parseTime(waitingSince) ?? now)) / 1000));
  const bakeStatusMessage = hasNoBake(head, rollout) ? WAITING_TO_BE_APPLIED : WAITING_FOR_HEALTH;
  return { ...rest, bakeStatusMessage, waitedSeconds: (head.waitedSeconds ?? 0) + waited };
}
