/** The status of a Rollout as it is stored: what a decision leads to, bounded, without anything that the CRD would refuse. */
import { STATUS_SHORTENED } from '../../api/conditions.ts';
import { KINDS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Blocker, GateSummary, HistoryEntry, RolloutStatus, VersionInfo } from '../../api/types.ts';
import { approvalCommands, evaluateGates, fullMessage, type GateResult, reveal } from '../gate/evaluateGates.ts';
import { setCondition, trueCondition } from '../kube/conditions.ts';
import { goJsonBytes } from '../kube/json.ts';
import { refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { withCommands } from '../text/commands.ts';
import { oneLine } from '../text/oneLine.ts';
import { boundTo, unapplied } from './deployment/progress.ts';
import type { Evaluation, RolloutState } from './evaluation/evaluation.ts';
import type { Observed } from './evaluation/observedRollout.ts';
import { handledRequests, type RequestKey, type Requests } from './evaluation/rolloutRequests.ts';
import { approvalsText, type RequiredApprovals } from './evaluation/versionApprovals.ts';
import { boundedReleases } from './release/retention.ts';

// `status.blockers` as it is stored: bounded, and without anything that the CRD would refuse.

/** Characters, as in the CRD. */
const MAX_VERSION = 128;
const MAX_NAME = 253;
const MAX_NAMESPACE = 63;
const MAX_USER = 128;

export function blockerList(all: readonly Blocker[]): { blockers: Blocker[]; leftOut: LeftOut } {
  const blockers = all.slice(0, LIMITS.listedBlockers).map(storedBlocker);
  const leftOut =
    all.length > blockers.length ? [`status.blockers has ${blockers.length} of ${all.length} entries`] : [];
  return { blockers, leftOut };
}

function storedBlocker({ version, object, by, ...rest }: Blocker): Blocker {
  return {
    ...rest,
    ...(version !== undefined && { version: version.slice(0, MAX_VERSION) }),
    ...(object && {
      object: {
        kind: object.kind,
        ...(object.namespace && { namespace: object.namespace.slice(0, MAX_NAMESPACE) }),
        name: object.name.slice(0, MAX_NAME),
      },
    }),
    ...(by && { by: oneLine(by.slice(0, MAX_USER)) }),
  };
}

// The status that a decision leads to.

/** Candidates that may come next are not forgotten, however old. */
const NEXT = 20;

/** All of it but `gates` and the metadata of the latest image. `requests`: those that are not used up. */
export function nextStatus(
  observed: Observed,
  state: RolloutState,
  { candidates, rolloutGatesResult, rejected, withdrawn, young, pending, copy }: Evaluation,
  { forceDeploy, bypassGates }: Requests,
  used: ReadonlySet<RequestKey>,
): RolloutStatus {
  const { rollout } = observed;
  const history = [...state.history];
  const waiting = pending ?? young[0]?.tag;
  const requested = [waiting, rollout.spec?.wantedVersion, forceDeploy, bypassGates].filter((tag) => tag !== undefined);
  const next = [...rolloutGatesResult.gated.slice(0, NEXT), ...candidates.slice(0, NEXT)];
  const deployed = history.map(({ version }) => version.tag);
  const matters = [...requested, ...deployed, ...next.map(({ tag }) => tag)];
  const available = boundedReleases(state.available, matters);
  const kept = new Set(available.map(({ tag }) => tag));
  const known = new Set([...kept, ...deployed]);
  const isKept = ({ tag }: { tag: string }) => kept.has(tag);
  const rolledBack = state.rolledBack.filter((tag) => known.has(tag));
  const barriers = state.barriers.filter((tag) => known.has(tag));
  const authors = state.authors.filter(({ tag }) => known.has(tag));
  const handledRequest = handledRequests(rollout, used);
  const copied = copy?.stored ?? rollout.status?.copy;
  return {
    ...(handledRequest && { handledRequest }),
    conditions: [...state.conditions],
    ...versions(observed, history),
    ...(waiting !== undefined && { pendingVersion: waiting }),
    ...(history.length > 0 && { history }),
    availableReleases: [...available],
    availableReleasesCount: available.length,
    releaseCandidates: candidates.filter(isKept),
    gatedReleaseCandidates: rolloutGatesResult.gated.filter(isKept),
    ...(rejected.some(isKept) && { rejectedReleases: rejected.filter(isKept) }),
    ...(withdrawn.length > 0 && { withdrawnReleases: withdrawn }),
    ...(young.length > 0 && { youngReleases: young }),
    ...(rolledBack.length > 0 && { rolledBackReleases: rolledBack }),
    ...(barriers.length > 0 && { rollbackBarriers: barriers }),
    ...(authors.length > 0 && { releaseAuthors: authors }),
    ...(copied && { copy: copied }),
  };
}

/** Which version runs, and which one is committed and not applied everywhere yet. */
function versions(
  { rollout, bindings, likeKuberik }: Observed,
  [head, ...older]: readonly HistoryEntry[],
): Pick<RolloutStatus, 'currentVersion' | 'rollingOutVersion'> {
  if (!head) return {};
  const { tag } = head.version;
  if (hasRun(head) || unapplied(head, boundTo(rollout, bindings), rollout).length === 0) return { currentVersion: tag };
  const current = likeKuberik ? tag : older.find(hasRun)?.version.tag;
  return { ...(current !== undefined && { currentVersion: current }), rollingOutVersion: tag };
}

/** Whether a deployment has run. One that Succeeded without proof ran before the Rollout existed, or had nothing to prove. An entry without a bake is of an older version of this software. */
function hasRun({ appliedTime, bakeStatus }: HistoryEntry): boolean {
  return appliedTime !== undefined || bakeStatus === undefined || bakeStatus === 'Succeeded';
}

// `status.gates`: the RolloutGates, as clients of the Go controller expect them, and the closed Gates.

/** How many closed Gates are shown. */
const SHOWN = 20;

/** `status.gates`: of many RolloutGates those that block come first, and a condition says how many are left out. */
export function gateSummaries(
  observed: Observed,
  evaluation: Evaluation,
  now: EpochMs,
): { gates: GateSummary[]; leftOut: LeftOut } {
  const closed = closedGates(observed, evaluation, now).slice(0, SHOWN);
  const requested = new Map(evaluation.requiredApprovals.map((each) => [each.gate.metadata.name ?? '', each]));
  const about = (each: GateSummary) => aboutPending(each, requested.get(each.name), evaluation.pending);
  const all = evaluation.rolloutGatesResult.summaries.map(about);
  const own = all.filter(isOfRolloutGate);
  if (own.length <= LIMITS.listedGates) return { gates: [...all, ...closed.map(summary)], leftOut: [] };
  const blocks = isBlocking(evaluation);
  // Clients take a gate that is not passing for one that holds every version.
  const rankOf = (each: GateSummary) => (each.passing === false ? 0 : blocks(each) ? 1 : 2);
  const byRank = own.toSorted((a, b) => rankOf(a) - rankOf(b));
  const shown = new Set(byRank.slice(0, LIMITS.listedGates));
  const gates = all.filter((each) => !isOfRolloutGate(each) || shown.has(each));
  const leftOut = [
    `status.gates has ${shown.size} of ${own.length} RolloutGates, of which ${own.filter(blocks).length} block`,
  ];
  return { gates: [...gates, ...closed.map(summary)], leftOut };
}

function isOfRolloutGate({ kind }: GateSummary): boolean {
  return kind === undefined;
}

function isBlocking({ pending }: Evaluation): (gate: GateSummary) => boolean {
  const isListed = ({ allowedVersions }: GateSummary) =>
    !allowedVersions || (pending !== undefined && allowedVersions.includes(pending));
  return (gate) => gate.passing === false || !isListed(gate);
}

/** The entry with the approvals of the waiting version, which may be no candidate, or not the newest. */
function aboutPending(
  gate: GateSummary,
  requested: RequiredApprovals | undefined,
  pending: string | undefined,
): GateSummary {
  return gate.passing && requested && pending !== undefined
    ? { ...gate, message: approvalsText(pending, requested) }
    : gate;
}

/** The closed Gates that hold the waiting version; where none waits, those that would hold any. */
function closedGates({ rollout, gateRefs, gates }: Observed, { pending, closed }: Evaluation, now: EpochMs) {
  if (pending !== undefined) return closed;
  const byKey = new Map(gates.map((gate) => [`${gate.metadata.namespace}/${gate.metadata.name}`, gate]));
  const evaluated = evaluateGates(gateRefs, (ref) => byKey.get(refKey(ref)), now).closed;
  return reveal(evaluated, rollout.metadata.namespace ?? '');
}

/** Without a list: clients take an entry that has one for a gate that lets some versions through. */
function summary(gate: GateResult): GateSummary {
  const isThere = !gate.missing && !gate.isLimit;
  const message = isThere
    ? withCommands(`Gate is closed: ${fullMessage(gate)}`, ...approvalCommands([gate]))
    : gate.message;
  return { kind: KINDS.Gate.kind, name: refKey(gate.ref), passing: false, message };
}

// Total size: what is bounded one by one may still be too much together. Then what decides nothing is shortened, the least
// important first, and a condition says so. A status that cannot be stored is worse: nothing would ever change again.

/** The parts that were left out before, a clause each. */
type LeftOut = readonly string[];

const FEW = 20;
const FEW_TAGS = 5;
const SHORT_TEXT = 200;
const MEDIUM_TEXT = 1024;

interface Step {
  /** For the end of a sentence. */
  what: string;
  shorten: (status: RolloutStatus) => RolloutStatus;
}

/** Applied in this order until the status fits. No decision reads these fields: candidates, rejections and Gates are computed each time. */
const STEPS: readonly Step[] = [
  {
    what: `candidates are the first ${FEW}, by tag`,
    shorten: ({ releaseCandidates = [], gatedReleaseCandidates = [], ...rest }) => ({
      ...rest,
      releaseCandidates: tagsOf(releaseCandidates),
      gatedReleaseCandidates: tagsOf(gatedReleaseCandidates),
    }),
  },
  {
    what: `rejectedReleases has the last ${FEW}`,
    shorten: ({ rejectedReleases, ...rest }) =>
      rejectedReleases ? { ...rest, rejectedReleases: rejectedReleases.slice(-FEW) } : rest,
  },
  {
    what: `status.blockers has the first ${FEW}`,
    shorten: ({ blockers, ...rest }) => (blockers ? { ...rest, blockers: blockers.slice(0, FEW) } : rest),
  },
  {
    what: 'status.gates has shorter lists and messages',
    shorten: ({ gates = [], ...rest }) => ({
      ...rest,
      gates: gates.map(({ allowedVersions, message, ...gate }) => ({
        ...gate,
        ...(allowedVersions && { allowedVersions: allowedVersions.slice(0, FEW_TAGS) }),
        ...(message !== undefined && { message: message.slice(0, SHORT_TEXT) }),
      })),
    }),
  },
  {
    what: 'messages of conditions are shorter',
    shorten: ({ conditions = [], ...rest }) => ({
      ...rest,
      conditions: conditions.map((each) => ({ ...each, message: each.message.slice(0, MEDIUM_TEXT) })),
    }),
  },
];

function tagsOf(releases: readonly VersionInfo[]): VersionInfo[] {
  return releases.slice(0, FEW).map(({ tag }) => ({ tag }));
}

export function fitted(status: RolloutStatus, leftOut: LeftOut, now: EpochMs): RolloutStatus {
  const shortened = [...leftOut];
  let next = status;
  for (const { what, shorten } of STEPS) {
    if (goJsonBytes(next) <= LIMITS.statusBytes) break;
    next = shorten(next);
    shortened.push(what);
  }
  return { ...next, conditions: withNote(next.conditions, shortened, now) };
}

function withNote(conditions: RolloutStatus['conditions'], shortened: readonly string[], now: EpochMs) {
  if (shortened.length === 0) return (conditions ?? []).filter(({ type }) => type !== STATUS_SHORTENED);
  const reason = shortened.length > 1 ? 'TooLarge' : 'TooMany';
  const message = `The status was shortened, because it would be too large to be stored: ${shortened.join('; ')}`;
  return setCondition(conditions, trueCondition(STATUS_SHORTENED, reason, message), now);
}

/** How much of a deployment stays. */
interface Cut {
  /** Characters of texts. */
  words: number;
  /** Characters of the reasons of approvals and of a bypass. */
  reasons: number;
  /** Approvals, and Gates of a bypass. */
  records: number;
}

/** Characters of a text, tried in turn. */
const LENGTHS = [4096, 1024, 256, 64, 16];
const SHORTEST = 16;
/** The fewest of a list that stay. */
const FEWEST = 2;
const fewFor = (length: number) => Math.max(FEWEST, Math.floor(length / 64));

/**
 * Tried in turn. What the requester writes goes first: it must not push out who approved, or which Gates were bypassed. Those are dropped only where
 * they alone are more than the share: the status could not be stored otherwise.
 */
const CUTS: readonly Cut[] = [
  ...LENGTHS.map((words) => ({ words, reasons: Infinity, records: Infinity })),
  ...[...LENGTHS, 0].map((reasons) => ({ words: SHORTEST, reasons, records: Infinity })),
  ...LENGTHS.map((length) => ({ words: SHORTEST, reasons: SHORTEST, records: fewFor(length) })),
];

/**
 * A history whose newest deployment has no more than its share of the bytes. It is cut while it is the newest: the ones before never change, and of a
 * deployment that is stored only its bake does. `length`: how many the history may have.
 */
export function withBoundedHead(
  history: readonly HistoryEntry[],
  stored: HistoryEntry | undefined,
  length: number,
): HistoryEntry[] {
  const [head, ...older] = history;
  if (!head) return [];
  const share = LIMITS.historyBytes / Math.max(length, history.length);
  if (goJsonBytes(head) <= share) return [head, ...older];
  const known = stored?.id === head.id ? stored : undefined;
  const cuts = CUTS.map((each) => shorter(head, known, each));
  return [cuts.find((each) => goJsonBytes(each) <= share) ?? cuts.at(-1)!, ...older];
}

function shorter(head: HistoryEntry, known: HistoryEntry | undefined, { words, reasons, records }: Cut): HistoryEntry {
  const cut = (text: string) => text.slice(0, words);
  const cutReason = (text: string) => text.slice(0, reasons);
  const { bakeStatusMessage, failedHealthChecks } = head;
  const bake = {
    ...head,
    ...(bakeStatusMessage !== undefined && { bakeStatusMessage: cut(bakeStatusMessage) }),
    ...(failedHealthChecks && {
      failedHealthChecks: failedHealthChecks
        .slice(0, fewFor(words))
        .map((each) => ({ ...each, ...(each.message !== undefined && { message: cut(each.message) }) })),
    }),
  };
  const { tag, digest } = head.version;
  const isTight = words <= 256;
  // What a manifest says of itself is known elsewhere.
  if (known) return { ...bake, ...(isTight && { version: known.version }) };
  const { message, reason, bypass, approvals } = head;
  return {
    ...bake,
    ...(isTight && { version: { tag, ...(digest && { digest }) } }),
    ...(message !== undefined && { message: cut(message) }),
    ...(reason !== undefined && { reason: cut(reason) }),
    ...(bypass && { bypass: { ...bypass, reason: cutReason(bypass.reason), gates: bypass.gates.slice(0, records) } }),
    ...(approvals && {
      approvals: approvals
        .slice(0, records)
        .map((each) => ({ ...each, ...(each.reason !== undefined && { reason: cutReason(each.reason) }) })),
    }),
  };
}
