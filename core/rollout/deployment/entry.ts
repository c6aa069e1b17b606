/** The new head of the history: a deployment that begins, or one that is adopted. */
import { DEPLOYED } from '../../../api/annotations.ts';
import { BAKE_FAILURE_DISABLED } from '../../../api/conditions.ts';
import type { AnyObject, Condition, EpochMs } from '../../../api/kubernetes.ts';
import type { DeploymentRef, HistoryEntry, Rollout, RolloutSpec, VersionInfo } from '../../../api/types.ts';
import { falseCondition, findCondition, type NewCondition, trueCondition } from '../../kube/conditions.ts';
import type { NewEvent } from '../../kube/events.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { formatTime } from '../../kube/time.ts';
import { parseDeployments } from '../../managedField/deployment.ts';
import { objectsOfRollout } from '../../managedField/managedFields.ts';
import { withoutFirstSeen } from '../release/metadata.ts';
import {
  BAKE_CANCELLED,
  deployedMessage,
  deploymentEvent,
  NO_BAKE,
  NOTHING_BOUND,
  RAN_BEFORE,
  replacedMessage,
  type Trigger,
  WAITING_FOR_HEALTH,
  WAITING_TO_BE_APPLIED,
} from './deploymentMessages.ts';
import { bakes, hasNoBake, isUnfinished } from './history.ts';
import { endedEntry } from './progress.ts';

type BakeState = Pick<HistoryEntry, 'bakeStatus' | 'bakeStatusMessage'>;

const BAKES: BakeState = { bakeStatus: 'Deploying', bakeStatusMessage: WAITING_FOR_HEALTH };
const RAN: BakeState = { bakeStatus: 'Succeeded', bakeStatusMessage: RAN_BEFORE };

/** The bake with which a new deployment begins: none if there is nothing to wait for. */
export function initialBake(
  trigger: Trigger,
  config: { bakes: boolean; kuberikCompat?: boolean },
  isBound: boolean,
): BakeState {
  if (trigger === 'InitialVersion') return RAN;
  if (config.bakes) return BAKES;
  if (config.kuberikCompat) return { bakeStatus: 'Succeeded', bakeStatusMessage: NO_BAKE };
  return isBound
    ? { bakeStatus: 'Deploying', bakeStatusMessage: WAITING_TO_BE_APPLIED }
    : { bakeStatus: 'Succeeded', bakeStatusMessage: NOTHING_BOUND };
}

/** The history with a new head, newest first and not yet truncated, and the Events of the change. */
export function withHead(
  head: HistoryEntry,
  [previous, ...older]: readonly HistoryEntry[],
  rollout: Rollout,
  now: EpochMs,
): { history: HistoryEntry[]; events: NewEvent[] } {
  const { tag } = head.version;
  const events: NewEvent[] = [];
  const stays: HistoryEntry[] = previous ? [withoutKnownHealth(previous)] : [];
  if (previous && isUnfinished(previous)) {
    const unwatched = hasNoBake(previous, rollout);
    const why = unwatched ? replacedMessage(tag) : BAKE_CANCELLED;
    const ended = endedEntry(stays[0]!, 'Cancelled', why, rollout, now);
    stays[0] = { ...ended, message: `Deployment cancelled due to new deployment of version ${tag}` };
    const message = `Bake time cancelled due to new deployment of version ${tag}`;
    if (!unwatched) events.push(deploymentEvent(previous, 'Normal', 'BakeTimeCancelled', message));
  }
  if (head.rolledBackFrom !== undefined) {
    const why = previous?.bakeStatusMessage ? ` (${previous.bakeStatusMessage})` : '';
    const message = `Version ${head.rolledBackFrom} has failed${why}: ${tag} is deployed again`;
    events.push(deploymentEvent(head, 'Warning', 'AutomaticRollback', message));
  }
  events.push(deploymentEvent(head, 'Normal', 'DeploymentSucceeded', deployedMessage(head)));
  if (isUnfinished(head) && bakes(rollout)) {
    const message = 'Bake time deploying, waiting for health checks to become healthy before starting bake.';
    events.push(deploymentEvent(head, 'Normal', 'BakeTimeDeploying', message));
  }
  return { history: [head, ...stays, ...older], events };
}

/** The entry without its knownHealth, which only the newest deployment needs: histories are long. */
function withoutKnownHealth({ knownHealth, ...entry }: HistoryEntry): HistoryEntry {
  return entry;
}

export function triggeredBy(user: string | undefined): NonNullable<HistoryEntry['triggeredBy']> {
  return user ? { kind: 'User', name: user } : { kind: 'System', name: 'rollout-controller' };
}

// Recovery mode: a deployment made during trouble is not failed by that trouble.

/** Whether the newest deployment was made during trouble: neither errors nor the timeout fail it. */
export function isInRecovery(conditions: readonly Condition[] | undefined): boolean {
  return findCondition(conditions, BAKE_FAILURE_DISABLED)?.status === 'True';
}

/** Failures of HealthChecks count for the deployment. */
export const BAKE_FAILURE_ENABLED = falseCondition(BAKE_FAILURE_DISABLED, 'Normal', '');

/**
 * The condition BakeFailureDisabled of a new deployment: it stays until the next one.
 * @param previous the deployment before; undefined if nothing can have gone wrong with it
 */
export function bakeFailureDisabled(
  { origin = [] }: HistoryEntry,
  previous: HistoryEntry | undefined,
  onFailure: NonNullable<RolloutSpec['onFailure']>,
  isUnhealthy: boolean,
): NewCondition {
  const isManual = origin.includes('Manual');
  // An adopted version that has not failed is no trouble: it ran before, and was only about to bake again.
  const wasRunning = previous?.origin?.includes('Adopted') && previous.bakeStatus !== 'Failed';
  const before = wasRunning ? undefined : previous?.bakeStatus;
  // Without Hold the next version, or the last that succeeded, follows a failed one automatically, with a full bake.
  const isByUser = isManual || origin.includes('FailedBakeUnblock');
  const isAutomatic = before === 'Failed' && onFailure !== 'Hold' && !isByUser;
  if (before && before !== 'Succeeded' && !isAutomatic) {
    const what = before === 'Failed' ? 'failed' : 'was cancelled';
    return disabledCondition('PreviousBakeFailed', `Previous deployment ${what}.`);
  }
  if (isManual && isUnhealthy)
    return disabledCondition('DeployedWithUnhealthyHealthChecks', 'Deployed during an active incident.');
  return BAKE_FAILURE_ENABLED;
}

function disabledCondition(reason: string, why: string): NewCondition {
  const message = `${why} Health check failures will not fail this deployment.`;
  return trueCondition(BAKE_FAILURE_DISABLED, reason, message);
}

// The adoption of a version: a Rollout that has lost its history (re-created, restored from Git) adopts the newest
// deployment that its Flux objects carry. Otherwise it would deploy the newest release as its first deployment, which
// RolloutGates might not block.

/** The largest id that is adopted: no Rollout has so many deployments. */
const MAX_ADOPTED_ID = 1e12;

/** A deployment that a Flux object carries. */
export interface CarriedDeployment {
  deployment: DeploymentRef;
  /** The object: `Kustomization 'my-app'`. */
  by: string;
}

/** The Rollout's deployments on the objects bound to it; their uid may be that of an earlier Rollout of this name. */
export function deploymentsCarriedBy(objects: readonly AnyObject[], rollout: string): CarriedDeployment[] {
  return objectsOfRollout(rollout, objects).flatMap(({ kind, metadata }) => {
    const all = parseDeployments(metadata.annotations?.[DEPLOYED]);
    const deployment = all.find((each) => each.rollout === rollout);
    return deployment && isLegalTag(deployment.version) ? [{ deployment, by: `${kind} '${metadata.name}'` }] : [];
  });
}

/**
 * The newest carried deployment as the only entry of the history.
 * If the Rollout bakes, it bakes like a new deployment: the lost history may have failed it.
 * @param carried at least one
 */
export function adoptedEntry(
  carried: readonly CarriedDeployment[],
  available: readonly VersionInfo[],
  bake: { bakes: boolean; knownHealth: HistoryEntry['knownHealth'] },
  now: EpochMs,
): HistoryEntry {
  const newest = carried.toSorted((a, b) => b.deployment.id - a.deployment.id || (a.by < b.by ? -1 : 1))[0]!;
  const { id, version } = newest.deployment;
  return {
    // A head without an id is carried as 0, and any user may have written an id that is too large to continue from.
    id: id > MAX_ADOPTED_ID ? 1 : Math.max(1, id),
    version: withoutFirstSeen(available.find(({ tag }) => tag === version) ?? { tag: version }),
    timestamp: formatTime(now),
    message: `Adopted from ${newest.by}, which already had this version`,
    origin: ['Adopted'],
    triggeredBy: triggeredBy(undefined),
    ...(bake.bakes ? BAKES : RAN),
    knownHealth: bake.bakes ? bake.knownHealth : undefined,
  };
}
