/** The new head of the history: a deployment that begins, or one that is adopted. */
import { DEPLOYED } from '../../../api/annotations.ts';
import { BAKE_FAILURE_DISABLED } from '../../../api/conditions.ts';
import type { AnyObject, Condition, EpochMs } from '../../../api/kubernetes.ts';
import type { DeploymentRef, HistoryEntry, Rollout, VersionInfo } from '../../../api/types.ts';
import { falseCondition, findCondition, type NewCondition, trueCondition } from '../../kube/conditions.ts';
import type { NewEvent } from '../../kube/events.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { parseDeployments } from '../../managedField/deployment.ts';
import { objectsOfRollout } from '../../managedField/managedFields.ts';
import { withoutFirstSeen } from '../release/metadata.ts';
import {
  BAKE_CANCELLED,
  type DeploymentKind,
  deployedMessage,
  deploymentEvent,
  givenMessage,
  historyMessage,
  NO_BAKE,
  NOTHING_BOUND,
  originOf,
  RAN_BEFORE,
  replacedMessage,
  WAITING_FOR_HEALTH,
  WAITING_TO_BE_APPLIED,
} from './deploymentMessages.ts';
import { hasNoBake, isUnfinished } from './history.ts';
import { endWait } from './progress.ts';
import type { OnFailure } from './rollback.ts';

/** The phase that a new deployment begins with: a bake, only the wait for Flux, or neither, with the reason. */
export type InitialPhase = 'bakes' | 'awaitsApply' | 'nothingBound' | 'ranBefore' | 'noBake';

/** The first bake status of a new deployment. */
const INITIAL_BAKE: Record<InitialPhase, Pick<HistoryEntry, 'bakeStatus' | 'bakeStatusMessage'>> = {
  bakes: { bakeStatus: 'Deploying', bakeStatusMessage: WAITING_FOR_HEALTH },
  awaitsApply: { bakeStatus: 'Deploying', bakeStatusMessage: WAITING_TO_BE_APPLIED },
  nothingBound: { bakeStatus: 'Succeeded', bakeStatusMessage: NOTHING_BOUND },
  ranBefore: { bakeStatus: 'Succeeded', bakeStatusMessage: RAN_BEFORE },
  noBake: { bakeStatus: 'Succeeded', bakeStatusMessage: NO_BAKE },
};

/** A new deployment. */
export interface Deployment extends DeploymentKind {
  /** The requests and approvals that opened its Gates. */
  approvals: NonNullable<HistoryEntry['approvals']>;
  /** The user who bypassed closed Gates for the deployment; undefined if none blocked it. */
  bypass: HistoryEntry['bypass'];
  version: VersionInfo;
  /** The image from whose tags the version was selected; undefined if it is unknown. */
  image: string | undefined;
  phase: InitialPhase;
  /** Deploy-message, deploy-user and authenticated user of a manual deployment. */
  message: string | undefined;
  user: string | undefined;
  requestedBy: string | undefined;
  /** The latest reports of the watched HealthChecks; undefined if only times show which reports are newer. */
  knownHealth: HistoryEntry['knownHealth'];
}

/** The history with the new deployment, newest first and not yet truncated, and the Events of the change. */
export function addDeployment(
  rollout: Rollout,
  history: readonly HistoryEntry[],
  deployment: Deployment,
  now: EpochMs,
): { history: HistoryEntry[]; events: NewEvent[] } {
  const { tag } = deployment.version;
  const [previous, ...older] = history;
  const entry = newEntry(previous, deployment, now);
  const events: NewEvent[] = [];
  const stays: HistoryEntry[] = previous ? [withoutKnownHealth(previous)] : [];
  if (previous && isUnfinished(previous)) {
    const unwatched = hasNoBake(previous, rollout);
    const why = unwatched ? replacedMessage(tag) : BAKE_CANCELLED;
    stays[0] = cancelledEntry(endWait(stays[0]!, rollout, now), tag, why, now);
    const message = `Bake time cancelled due to new deployment of version ${tag}`;
    if (!unwatched) events.push(deploymentEvent(previous, 'Normal', 'BakeTimeCancelled', message));
  }
  if (deployment.rollbackFrom !== undefined) {
    const why = previous?.bakeStatusMessage ? ` (${previous.bakeStatusMessage})` : '';
    const message = `Version ${deployment.rollbackFrom} has failed${why}: ${tag} is deployed again`;
    events.push(deploymentEvent(entry, 'Warning', 'AutomaticRollback', message));
  }
  events.push(deploymentEvent(entry, 'Normal', 'DeploymentSucceeded', deployedMessage(deployment, tag)));
  if (deployment.phase === 'bakes') {
    const message = 'Bake time deploying, waiting for health checks to become healthy before starting bake.';
    events.push(deploymentEvent(entry, 'Normal', 'BakeTimeDeploying', message));
  }
  return { history: [entry, ...stays, ...older], events };
}

function newEntry(previous: HistoryEntry | undefined, deployment: Deployment, now: EpochMs): HistoryEntry {
  const { user, requestedBy, phase } = deployment;
  return {
    id: (previous?.id ?? 0) + 1,
    version: deployment.version,
    ...(deployment.image !== undefined && { image: deployment.image }),
    timestamp: formatTime(now),
    message: historyMessage(deployment, deployment.message),
    origin: originOf(deployment),
    triggeredBy: triggeredBy(user),
    ...(requestedBy && { requestedBy }),
    ...(deployment.message && { reason: givenMessage(deployment.message) }),
    ...(deployment.approvals.length > 0 && { approvals: deployment.approvals }),
    ...(deployment.bypass && { bypass: deployment.bypass }),
    ...(deployment.rollbackFrom !== undefined && { rolledBackFrom: deployment.rollbackFrom }),
    ...INITIAL_BAKE[phase],
    ...(phase === 'bakes' && deployment.knownHealth && { knownHealth: deployment.knownHealth }),
  };
}

/** The entry without its knownHealth, which only the newest deployment needs: histories are long. */
function withoutKnownHealth({ knownHealth, ...entry }: HistoryEntry): HistoryEntry {
  return entry;
}

function triggeredBy(user: string | undefined): NonNullable<HistoryEntry['triggeredBy']> {
  return user ? { kind: 'User', name: user } : { kind: 'System', name: 'rollout-controller' };
}

function cancelledEntry(head: HistoryEntry, by: string, why: string, now: EpochMs): HistoryEntry {
  return {
    ...head,
    bakeStatus: 'Cancelled',
    bakeStatusMessage: why,
    // The start of a bake is rounded up: its end must not come before.
    bakeEndTime: formatTime(Math.max(now, parseTime(head.bakeStartTime) ?? now)),
    message: `Deployment cancelled due to new deployment of version ${by}`,
  };
}

// Recovery mode: a deployment made during trouble is not failed by that trouble.

interface Circumstances {
  previous: HistoryEntry | undefined;
  manual: boolean;
  /** A user let the deployment follow a failed one. */
  unblocked: boolean;
  onFailure: OnFailure;
  unhealthy: boolean;
}

/** Whether the newest deployment was made during trouble: neither errors nor the timeout fail it. */
export function isInRecovery(conditions: readonly Condition[] | undefined): boolean {
  return findCondition(conditions, BAKE_FAILURE_DISABLED)?.status === 'True';
}

/** Failures of HealthChecks count for the deployment. */
export const BAKE_FAILURE_ENABLED = falseCondition(BAKE_FAILURE_DISABLED, 'Normal', '');

/** The condition BakeFailureDisabled of a new deployment: it stays until the next one. */
export function bakeFailureDisabled({
  previous,
  manual,
  unblocked,
  onFailure,
  unhealthy,
}: Circumstances): NewCondition {
  // An adopted version that has not failed is no trouble: it ran before, and was only about to bake again.
  const wasRunning = previous?.origin?.includes('Adopted') && previous.bakeStatus !== 'Failed';
  const before = wasRunning ? undefined : previous?.bakeStatus;
  // Without Hold the next version, or the last that succeeded, follows a failed one automatically, with a full bake.
  const isAutomatic = before === 'Failed' && onFailure !== 'Hold' && !manual && !unblocked;
  if (before && before !== 'Succeeded' && !isAutomatic) {
    const what = before === 'Failed' ? 'failed' : 'was cancelled';
    return disabledCondition('PreviousBakeFailed', `Previous deployment ${what}.`);
  }
  if (manual && unhealthy)
    return disabledCondition('DeployedWithUnhealthyHealthChecks', 'Deployed during an active incident.');
  return BAKE_FAILURE_ENABLED;
}

function disabledCondition(reason: string, why: string): NewCondition {
  const message = `${why} Health check failures will not fail this deployment.`;
  return trueCondition(BAKE_FAILURE_DISABLED, reason, message);
}

// The adoption of a version: a Rollout that has lost its history (re-created, restored from Git) adopts the newest
// deployment that its Flux objects carry. Otherwise it would deploy the newest release as its first deployment, which
// RolloutGates may not hold.

/** The largest id that is adopted: no Rollout has so many deployments. */
const MAX_ADOPTED_ID = 1e12;

const WITHOUT_BAKE: Pick<HistoryEntry, 'bakeStatus' | 'bakeStatusMessage'> = {
  bakeStatus: 'Succeeded',
  bakeStatusMessage: 'Adopted without a bake: the version was deployed before this Rollout was created.',
};

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
    message: `Adopted from ${newest.by}, which carries it`,
    origin: ['Adopted'],
    triggeredBy: triggeredBy(undefined),
    ...(bake.bakes ? INITIAL_BAKE.bakes : WITHOUT_BAKE),
    ...(bake.bakes && bake.knownHealth && { knownHealth: bake.knownHealth }),
  };
}
