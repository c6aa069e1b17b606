/** `status.gates` of a Rollout: its RolloutGates, as clients of the Go controller expect them, and the closed Gates. */
import { KINDS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { GateSummary, RolloutStatus } from '../../api/types.ts';
import { approvalCommands, evaluateGates, fullMessage, type GateResult, redactFor } from '../gate/evaluateGates.ts';
import { refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { withCommands } from '../text/commands.ts';
import type { Evaluation } from './evaluation/evaluation.ts';
import type { Observed } from './evaluation/inputs.ts';
import { approvalsText, type RequiredApprovals } from './evaluation/versionApprovals.ts';
import type { LeftOut } from './statusSize.ts';

/** Closed Gates in `status.gates`. */
const MAX_CLOSED_GATES = 20;

/** The entries. Of many RolloutGates those that block come first; a condition reports how many are left out. */
export function gateSummaries(
  observed: Observed,
  evaluation: Evaluation,
  now: EpochMs,
): { gates: GateSummary[]; leftOut: LeftOut } {
  const closed = closedGates(observed, evaluation, now).slice(0, MAX_CLOSED_GATES);
  const requested = new Map(evaluation.requiredApprovals.map((each) => [each.gate.metadata.name ?? '', each]));
  const all = evaluation.rolloutGatesResult.summaries.map((each) =>
    withApprovals(each, requested.get(each.name), evaluation.pending),
  );
  const own = all.filter(isOfRolloutGate);
  if (own.length <= LIMITS.listedGates) return { gates: [...all, ...closed.map(closedSummary)], leftOut: [] };
  const blocks = isBlocking(evaluation);
  // Clients read an entry with `passing: false` as a RolloutGate that holds every version.
  const rankOf = (each: GateSummary) => (each.passing === false ? 0 : blocks(each) ? 1 : 2);
  const byRank = own.toSorted((a, b) => rankOf(a) - rankOf(b));
  const shown = new Set(byRank.slice(0, LIMITS.listedGates));
  const gates = all.filter((each) => !isOfRolloutGate(each) || shown.has(each));
  const leftOut = [
    `status.gates has ${shown.size} of ${own.length} RolloutGates, of which ${own.filter(blocks).length} block`,
  ];
  return { gates: [...gates, ...closed.map(closedSummary)], leftOut };
}

function isOfRolloutGate({ kind }: GateSummary): boolean {
  return kind === undefined;
}

function isBlocking({ pending }: Evaluation): (gate: GateSummary) => boolean {
  const isListed = ({ allowedVersions }: GateSummary) =>
    !allowedVersions || (pending !== undefined && allowedVersions.includes(pending));
  return (gate) => gate.passing === false || !isListed(gate);
}

/** The entry with the approvals of the pending version, which may be no candidate, or not the newest. */
function withApprovals(
  gate: GateSummary,
  requested: RequiredApprovals | undefined,
  pending: string | undefined,
): GateSummary {
  return gate.passing && requested && pending !== undefined
    ? { ...gate, message: approvalsText(pending, requested) }
    : gate;
}

/** The closed Gates that hold the pending version; if none is pending, those that would hold any. */
function closedGates({ rollout, gateRefs, gates }: Observed, { pending, closed }: Evaluation, now: EpochMs) {
  if (pending !== undefined) return closed;
  return redactFor(evaluateGates(gateRefs, gates, now).closed, rollout.metadata.namespace ?? '');
}

/**
 * The entry of a closed Gate. It has no list, because clients read an entry with a list as a gate that lets versions
 * through.
 */
function closedSummary(gate: GateResult): GateSummary {
  const exists = !gate.missing && !gate.isLimit;
  const message = exists
    ? withCommands(`Gate is closed: ${fullMessage(gate)}`, ...approvalCommands([gate]))
    : gate.message;
  return { kind: KINDS.Gate.kind, name: refKey(gate.ref), passing: false, message };
}

/** Whether no RolloutGate is closed, by the stored `status.gates`. */
export function arePassing(gates: readonly GateSummary[] = []): boolean {
  return gates.every(({ passing }) => passing !== false);
}

/** The version that automation deploys next by the stored status: the newest that RolloutGates allow. */
export function nextAutomatic({ gatedReleaseCandidates = [], gates }: RolloutStatus): string | undefined {
  return arePassing(gates) ? gatedReleaseCandidates[0]?.tag : undefined;
}
