/**
 * `status.gates`: the RolloutGates and upstream Rollouts, as clients of the Go controller expect them, and the closed
 * Gates.
 */
import { KINDS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { GateSummary, HistoryEntry, RolloutGate, VersionInfo } from '../../api/types.ts';
import {
  approveGateCommands,
  type ClosedGates,
  closedAmong,
  closedPhrase,
  LIMIT_TEXTS,
  unionOfClosed,
} from '../gate/closedGates.ts';
import { evaluateGates, type GateResult, isMissing, redactFor } from '../gate/evaluateGates.ts';
import { LIMITS } from '../limits.ts';
import { withCommands } from '../text/commands.ts';
import type { Evaluation } from './decideDeployment.ts';
import { gatesThatHold } from './deployment/progress.ts';
import type { Observed, RolloutContext } from './evaluation/observed.ts';
import { allowedBy } from './evaluation/rolloutGates.ts';
import { approvalProgress, isApproved, type RolloutGateApprovals } from './evaluation/versionApprovals.ts';
import type { UpstreamVerdict } from './upstream/upstreamVerdict.ts';

/** Closed Gates in `status.gates`. */
const MAX_CLOSED_GATES = 20;

/** The entries. Of many RolloutGates those that block come first; a condition reports how many are left out. */
export function gateSummaries(
  context: RolloutContext,
  evaluation: Evaluation,
): { gates: GateSummary[]; leftOut: string[] } {
  const { version } = evaluation.choice;
  const closed = closedSummaries(context, evaluation).slice(0, MAX_CLOSED_GATES);
  const all = rolloutGateSummaries(context, evaluation);
  const own = all.filter(isOfRolloutGate);
  // Clients read an entry with `passing: false` as a RolloutGate that blocks every version.
  const rankOf = (each: GateSummary) => (each.passing === false ? 0 : blocks(each, version) ? 1 : 2);
  const byRank = own.toSorted((a, b) => rankOf(a) - rankOf(b));
  const shown = new Set(byRank.slice(0, LIMITS.listedGates));
  const blocking = own.filter((each) => rankOf(each) < 2);
  const note = `status.gates has ${shown.size} of ${own.length} RolloutGates, of which ${blocking.length} block`;
  return {
    gates: [...all.filter((each) => !isOfRolloutGate(each) || shown.has(each)), ...closed],
    leftOut: shown.size < own.length ? [note] : [],
  };
}

function isOfRolloutGate({ kind }: GateSummary): boolean {
  return kind === undefined;
}

function blocks({ passing, allowedVersions }: GateSummary, version: string | undefined): boolean {
  if (passing === false || !allowedVersions) return passing === false;
  return version === undefined || !allowedVersions.includes(version);
}

/**
 * The version that bypasses the RolloutGates; or the deployed one that has, while no other version is pending. Without
 * it, the RolloutGates would seem to block the version that was just deployed.
 */
export function shownBypass(
  [head]: readonly HistoryEntry[],
  { candidates, approvals, rolloutGatesResult }: Pick<Evaluation, 'candidates' | 'approvals' | 'rolloutGatesResult'>,
): string | undefined {
  if (candidates.length > 0 || !head?.origin?.includes('GateBypass')) return rolloutGatesResult.bypassed;
  return isApproved(approvals, head.version.tag) ? head.version.tag : undefined;
}

/** The entries of the RolloutGates and upstream Rollouts. */
function rolloutGateSummaries({ observed, state }: RolloutContext, evaluation: Evaluation): GateSummary[] {
  const { candidates, upstreamVerdicts, approvals } = evaluation;
  const approvalsOf = new Map(approvals.map((each) => [each.gate, each]));
  const entries = [
    ...observed.rolloutGates.map((gate) => rolloutGateSummary(gate, approvalsOf.get(gate), evaluation)),
    ...upstreamVerdicts.map((each) => upstreamSummary(each, candidates)),
  ];
  const bypassed = shownBypass(state.history, evaluation);
  if (bypassed === undefined) return entries;
  return entries.map((each) => ({ ...each, message: `Gate bypassed for version ${bypassed}`, bypassGates: true }));
}

/**
 * The entry of a RolloutGate. While it is not passing the entry has no list: clients read a list as "blocks by list".
 * With approvals it lists the approved candidates, because clients read only lists.
 */
function rolloutGateSummary(
  gate: RolloutGate,
  approvals: RolloutGateApprovals | undefined,
  { candidates, choice, requiredApprovals }: Evaluation,
): GateSummary {
  const { metadata, spec } = gate;
  const entry = { name: metadata.name ?? '', passing: spec?.passing ?? true };
  if (!entry.passing) return { ...entry, message: 'Gate is not passing' };
  const listed = allowedBy(gate);
  if (!approvals) {
    if (!listed) return { ...entry, message: 'Gate is passing' };
    const some = candidates.some(({ tag }) => listed.has(tag));
    const message = some ? 'Gate is passing' : 'Gate does not allow any release candidate';
    return { ...entry, allowedVersions: shortList([...listed], candidates), message };
  }
  const allowed = candidates.filter(({ tag }) => isApproved([approvals], tag) && (listed?.has(tag) ?? true));
  // The version that waits may be no candidate, or not the newest.
  const shown = (requiredApprovals.includes(approvals) ? choice.version : undefined) ?? candidates[0]?.tag;
  const message = shown === undefined ? 'Gate is passing' : approvalProgress(shown, approvals);
  return { ...entry, allowedVersions: allowed.slice(0, LIMITS.listedVersions).map(({ tag }) => tag), message };
}

/** The list to store. A long list is cut to the candidates on it, newest first, and then its latest entries. */
function shortList(allowed: readonly string[], candidates: readonly VersionInfo[]): string[] {
  if (allowed.length <= LIMITS.listedVersions) return [...allowed];
  const tags = new Set(allowed);
  const next = candidates.flatMap(({ tag }) => (tags.has(tag) ? [tag] : []));
  return [...new Set([...next, ...allowed.toReversed()])].slice(0, LIMITS.listedVersions);
}

function upstreamSummary({ name, allowed, wait }: UpstreamVerdict, [newest]: readonly VersionInfo[]): GateSummary {
  const entry = { kind: KINDS.Rollout.kind, name, passing: true };
  if (!newest) return { ...entry, message: wait?.text ?? 'Gate is passing' };
  const message = wait ? `${newest.tag} waits for ${wait.text}` : 'Gate is passing';
  return { ...entry, allowedVersions: allowed.slice(0, LIMITS.listedVersions), message };
}

/** The Gates that block versions, then those that hold the newest deployment. */
function closedSummaries({ observed, state, now }: RolloutContext, evaluation: Evaluation): GateSummary[] {
  const blocking = closedGates(observed, evaluation, now);
  const holding = gatesThatHold(state.history[0], observed.bindings, observed.rollout, now);
  const closed = unionOfClosed([blocking, holding]);
  if (!closed) return [];
  return [
    ...(closed.limit ? [closedSummary(closed.limit, LIMIT_TEXTS[closed.limit])] : []),
    ...closed.gates.map((gate) => closedSummary(gate.key, closedMessage(gate))),
  ];
}

/** The closed Gates that block the version that waits; if none waits, those that would block any. */
function closedGates(
  { rollout, requiredGates, gates }: Observed,
  { choice, versionGates }: Evaluation,
  now: EpochMs,
): ClosedGates | undefined {
  if (choice.version !== undefined) return versionGates.closed;
  const { refs, limit } = requiredGates;
  return closedAmong(redactFor(evaluateGates(refs, gates, now), rollout.metadata.namespace ?? ''), limit);
}

/**
 * The entry of a closed Gate. It has no list, because clients read an entry with a list as a gate that lets versions
 * through.
 */
function closedSummary(name: string, message: string): GateSummary {
  return { kind: KINDS.Gate.kind, name, passing: false, message };
}

function closedMessage(gate: GateResult): string {
  if (isMissing(gate)) return gate.message;
  return withCommands(`Gate is ${closedPhrase(gate)}`, ...approveGateCommands([gate]));
}
