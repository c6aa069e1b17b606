/**
 * The way back after a failure, `spec.onFailure: Rollback`. All of it follows from what is stored: whoever decides again after
 * a crash decides the same, and once the rollback is the head of the history there is nothing left to decide.
 */

import { ROLLBACK_BARRIER } from '../../../api/annotations.ts';
import { GATE_CLOSED, ROLLED_BACK } from '../../../api/conditions.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { HistoryEntry, VersionInfo } from '../../../api/types.ts';
import { approvalCommands, closedText, type GateResult } from '../../gate/evaluateGates.ts';
import { falseCondition, type NewCondition, trueCondition } from '../../kube/conditions.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { isBare } from '../release/metadata.ts';

/** `spec.onFailure`, or the installation's default. */
export type OnFailure = 'Continue' | 'Hold' | 'Rollback';

/** The last version that succeeded is to be deployed again, in the place of the failed one. */
export interface StepBack {
  to: VersionInfo;
  from: string;
  stays?: undefined;
}

/** There is no way back, and why. */
interface NoWayBack {
  stays: { reason: string; message: string };
  /** Until then nothing else is deployed automatically: there may be a way back. */
  until?: EpochMs;
}

export type Rollback = StepBack | NoWayBack;

interface RollbackInputs {
  history: readonly HistoryEntry[];
  config: { onFailure: OnFailure /** A release that is never rolled back. */; barrier?: string };
  /** Releases that say themselves that they cannot be undone. */
  barriers: readonly string[];
  /** Releases whose metadata may still say so. */
  awaited: readonly string[];
  now: EpochMs;
  /** The RolloutGate that rejects a tag. */
  rejectedBy: (tag: string) => string | undefined;
}

/** From the failure. A registry that says nothing must not keep a failed version in place for long. */
const UNKNOWN_MS = 15_000;

/** undefined where nothing has failed, or failures are dealt with otherwise. */
export function rollbackOf({
  history,
  config,
  barriers,
  awaited,
  rejectedBy,
  now,
}: RollbackInputs): Rollback | undefined {
  const [head] = history;
  if (config.onFailure !== 'Rollback' || head?.bakeStatus !== 'Failed') return undefined;
  const from = head.version.tag;
  if (head.rolledBackFrom !== undefined) {
    const message = `The rollback from ${head.rolledBackFrom} to ${from} has failed too: deploy another version manually, or retry this one`;
    return { stays: { reason: 'RollbackFailed', message } };
  }
  const index = history.findIndex(({ bakeStatus, version }) => bakeStatus === 'Succeeded' && version.tag !== from);
  const target = history[index];
  if (!target) {
    return stays('NoSucceededVersion', from, 'the history has no other version that succeeded');
  }
  const undone = history.slice(0, index).map(({ version }) => version.tag);
  const barrier = undone.find((tag) => tag === config.barrier || barriers.includes(tag));
  if (barrier !== undefined) {
    const said = barrier === config.barrier ? 'spec.rollback.barrier' : `the release's annotation ${ROLLBACK_BARRIER}`;
    return stays('Barrier', from, `${said} says that ${barrier} cannot be undone`);
  }
  const until = (parseTime(head.bakeEndTime) ?? Number.NEGATIVE_INFINITY) + UNKNOWN_MS;
  const unknown = history.slice(0, index).find(({ version }) => isBare(version) && awaited.includes(version.tag));
  if (unknown && now < until) {
    const { tag } = unknown.version;
    const text = `waiting until ${formatTime(until)} for the registry to answer whether ${tag} can be undone`;
    return { ...stays('MetadataUnknown', from, text), until };
  }
  const to = target.version;
  const gate = rejectedBy(to.tag);
  if (gate !== undefined) return stays('Rejected', from, `RolloutGate '${gate}' rejects ${to.tag}`);
  return { to, from };
}

function stays(reason: string, from: string, why: string): NoWayBack {
  return { stays: { reason, message: `${from} has failed and is not rolled back: ${why}` } };
}

/** How many entries of a history it takes to go back from its head, should that fail. None where failures are dealt with otherwise. */
export function lengthOfWayBack(
  [head, ...others]: readonly HistoryEntry[],
  { onFailure }: { onFailure: OnFailure },
): number {
  if (onFailure !== 'Rollback') return 0;
  return (
    2 + others.findIndex(({ bakeStatus, version }) => bakeStatus === 'Succeeded' && version.tag !== head?.version.tag)
  );
}

/** Automation holds after a rollback that failed as well. */
export function holdsAfter(head: HistoryEntry | undefined, { onFailure }: { onFailure: OnFailure }): boolean {
  if (head?.bakeStatus !== 'Failed') return false;
  return onFailure === 'Hold' || (onFailure === 'Rollback' && head.rolledBackFrom !== undefined);
}

/** undefined while there is nothing to say about a rollback. */
export function rollbackCondition(
  [head, before]: readonly HistoryEntry[],
  rollback: Rollback | undefined,
  closed: readonly GateResult[],
): NewCondition | undefined {
  if (rollback?.stays) return { type: ROLLED_BACK, status: 'False', ...rollback.stays };
  if (rollback) {
    const what = `The rollback from ${rollback.from} to ${rollback.to.tag}`;
    if (closed.length === 0) return undefined;
    const waits = falseCondition(ROLLED_BACK, GATE_CLOSED, `${what} waits: ${closedText(closed)}`);
    return { ...waits, commands: approvalCommands(closed) };
  }
  if (head?.rolledBackFrom === undefined) return undefined;
  const why = before?.version.tag === head.rolledBackFrom && before.bakeStatusMessage;
  const message = `Rolled back from ${head.rolledBackFrom} to ${head.version.tag}${why ? `: ${why}` : ''}`;
  return trueCondition(ROLLED_BACK, 'RolledBack', message);
}
