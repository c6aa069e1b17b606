/**
 * The rollback after a failure, `spec.onFailure: Rollback`.
 * It is decided from stored data only: after a crash the decision is the same, and once the rollback is the head of the
 * history nothing is left to decide.
 */
import { ROLLBACK_BARRIER } from '../../../api/annotations.ts';
import { GATE_CLOSED, ROLLED_BACK } from '../../../api/conditions.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Settings } from '../../../api/ports.ts';
import type { HistoryEntry, Rollout, VersionInfo } from '../../../api/types.ts';
import { approveGateCommands, type ClosedGates, closedText } from '../../gate/closedGates.ts';
import { falseCondition, type NewCondition, trueCondition } from '../../kube/conditions.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { imageOfReleases } from '../../policy/imagePolicy.ts';
import { imageChange, succeededDeployments } from '../deployment/history.ts';
import { isBare } from '../release/metadata.ts';
import type { RolloutConfig, RolloutContext } from './observed.ts';
import { rejectedBy } from './rolloutGates.ts';

/** A rollback from the failed version to the last one that succeeded. */
export interface RollbackTarget {
  is: 'possible';
  to: VersionInfo;
  from: string;
}

/** Whether a failed version is rolled back. If not, the condition RolledBack has the reason and the message. */
export type Rollback =
  | RollbackTarget
  | { is: 'refused'; reason: string; message: string }
  /** The rollback may become possible until `until`. Automation deploys nothing else before that. */
  | { is: 'undecided'; reason: string; message: string; until: EpochMs };

type IsNewer = (tag: string, than: string) => boolean;

/** The time after the failure for which missing metadata delays the rollback: a registry may not answer at all. */
const METADATA_WAIT_MS = 15_000;

function metadataAwaitedUntil({ bakeEndTime }: HistoryEntry): EpochMs {
  return (parseTime(bakeEndTime) ?? Number.NEGATIVE_INFINITY) + METADATA_WAIT_MS;
}

/** Whether a rollback of the newest deployment may wait for missing metadata now. */
export function mayAwaitMetadata({ spec, status }: Rollout, byDefault: Settings['onFailure'], now: EpochMs): boolean {
  const [head] = status?.history ?? [];
  if (head?.bakeStatus !== 'Failed' || head.rolledBackFrom !== undefined) return false;
  return (spec?.onFailure ?? byDefault) === 'Rollback' && now < metadataAwaitedUntil(head);
}

/**
 * The rollback, or why there is none; undefined if nothing has failed, or spec.onFailure is not Rollback.
 * @param isNewer whether a tag is newer than another, in the order of the policy
 */
export function rollbackOf(context: RolloutContext, isNewer: IsNewer): Rollback | undefined {
  const { state, config } = context;
  const [head] = state.history;
  if (config.onFailure !== 'Rollback' || head?.bakeStatus !== 'Failed') return undefined;
  const from = head.version.tag;
  if (head.rolledBackFrom !== undefined) {
    const message = `The rollback from ${head.rolledBackFrom} to ${from} has failed too: deploy another version manually, or retry this one`;
    return { is: 'refused', reason: 'RollbackFailed', message };
  }
  // The failed version is not among the succeeded ones.
  const [target] = succeededDeployments(state.history);
  if (!target) {
    const text = 'the history has no other version whose last deployment succeeded';
    return refused(from, { reason: 'NoSucceededVersion', text });
  }
  const refusal = refusalOf(head, target, context, isNewer);
  return refusal ? refused(from, refusal) : { is: 'possible', to: target.version, from };
}

function refused(from: string, { reason, text, until }: Refusal): Rollback {
  const why = { reason, message: `${from} has failed and is not rolled back: ${text}` };
  return until === undefined ? { is: 'refused', ...why } : { is: 'undecided', ...why, until };
}

interface Refusal {
  reason: string;
  /** A clause. */
  text: string;
  until?: EpochMs;
}

/** Why the deployment `target` is not repeated; undefined if it is. */
function refusalOf(
  head: HistoryEntry,
  target: HistoryEntry,
  { observed, config, state: { history, available, barriers }, now }: RolloutContext,
  isNewer: IsNewer,
): Refusal | undefined {
  const { rollout, imagePolicy, rolloutGates, awaitedMetadata } = observed;
  const from = head.version.tag;
  const to = target.version;
  const since = history.slice(0, history.indexOf(target));
  // A release includes the changes of every earlier one, even of a barrier that was never deployed. A barrier whose
  // place is unknown may be such a one.
  const isNotCrossed = (tag: string) => tag === to.tag || isNewer(to.tag, tag) || isNewer(tag, from);
  const marked = [...(config.barrier === undefined ? [] : [config.barrier]), ...barriers];
  const deployed = since.find(({ version }) => marked.includes(version.tag))?.version.tag;
  const barrier = deployed ?? marked.find((tag) => !isNotCrossed(tag));
  if (barrier !== undefined) {
    const source =
      barrier === config.barrier ? 'spec.rollback.barrier' : `the release's annotation ${ROLLBACK_BARRIER}`;
    return { reason: 'Barrier', text: `${barrier} cannot be undone (${source})` };
  }
  const until = metadataAwaitedUntil(head);
  const unknown = since.find(({ version }) => isBare(version) && awaitedMetadata.includes(version.tag));
  if (unknown && now < until) {
    const { tag } = unknown.version;
    const text = `waiting until ${formatTime(until)} for the registry to answer whether ${tag} can be undone`;
    return { reason: 'MetadataUnknown', text, until };
  }
  const changed = imageChange(target, { history, available, image: imageOfReleases(rollout, imagePolicy) });
  if (changed) return changed;
  const gate = rejectedBy(rolloutGates, to.tag);
  return gate === undefined ? undefined : { reason: 'Rejected', text: `RolloutGate '${gate}' rejects ${to.tag}` };
}

/** Versions to roll back to that a history keeps: if the first is deployed again and fails, the second is left. */
const KEPT_TARGETS = 2;

/** The number of history entries that rollbacks from the head need; 0 if spec.onFailure is not Rollback. */
export function rollbackDepth([head, ...others]: readonly HistoryEntry[], { onFailure }: RolloutConfig): number {
  if (onFailure !== 'Rollback') return 0;
  const targets = succeededDeployments(others).filter(({ version }) => version.tag !== head?.version.tag);
  const [last] = targets.slice(0, KEPT_TARGETS).slice(-1);
  return last ? 2 + others.indexOf(last) : 0;
}

/** Whether automation stops after this failure. It also stops after a rollback that failed. */
export function blocksAfterFailure(head: HistoryEntry | undefined, { onFailure }: RolloutConfig): boolean {
  if (head?.bakeStatus !== 'Failed') return false;
  return onFailure === 'Hold' || (onFailure === 'Rollback' && head.rolledBackFrom !== undefined);
}

/** The condition RolledBack; undefined if there is no rollback to report. */
export function rollbackCondition(
  [head, before]: readonly HistoryEntry[],
  rollback: Rollback | undefined,
  closed: ClosedGates | undefined,
): NewCondition | undefined {
  if (rollback && rollback.is !== 'possible') return falseCondition(ROLLED_BACK, rollback.reason, rollback.message);
  if (rollback) {
    const what = `The rollback from ${rollback.from} to ${rollback.to.tag}`;
    if (!closed) return undefined;
    const waits = falseCondition(ROLLED_BACK, GATE_CLOSED, `${what} waits: ${closedText(closed)}`);
    return { ...waits, commands: approveGateCommands(closed.gates) };
  }
  if (head?.rolledBackFrom === undefined) return undefined;
  const why = before?.version.tag === head.rolledBackFrom && before.bakeStatusMessage;
  const message = `Rolled back from ${head.rolledBackFrom} to ${head.version.tag}${why ? `: ${why}` : ''}`;
  return trueCondition(ROLLED_BACK, 'RolledBack', message);
}
