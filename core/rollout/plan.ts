/**
 * What to do about a Rollout: observed state and a time in, the status to store out. Each step takes values and answers with
 * values. Planning again on the result changes nothing, except that a new deployment then takes its course.
 */

import type { ImagePolicy } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Blocker, GateSummary, HistoryEntry, RolloutStatus } from '../../api/types.ts';
import { approvalCommands, evaluateGates, fullMessage, type GateResult, reveal } from '../gate/evaluateGates.ts';
import type { NewEvent } from '../kube/events.ts';
import { refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { derivedPolicy } from '../policy/writeBack.ts';
import type { CopyJob } from '../releaseCopy/job.ts';
import { revised } from '../status/revision.ts';
import { withCommands } from '../text/commands.ts';
import { oneLine } from '../text/oneLine.ts';
import { nextConditions, setConditions } from './conditions.ts';
import { type ReleaseConfigMap, releaseConfigMap } from './configMap.ts';
import { decide } from './decision.ts';
import { isBaking } from './deployment/bake.ts';
import { boundTo, unapplied } from './deployment/progress.ts';
import { approvalsText, type RequiredApprovals } from './evaluation/approvals.ts';
import { readConfig } from './evaluation/config.ts';
import { type Evaluation, type RolloutState, storedState } from './evaluation/evaluation.ts';
import { namedGates } from './evaluation/namedGates.ts';
import type { Observed } from './evaluation/observed.ts';
import { handledRequests, idleRequests, type RequestKey, type Requests, requestsOf } from './evaluation/requests.ts';
import { changeEvents, dated } from './events.ts';
import { bounded } from './release/retention.ts';
import { fitted, type LeftOut, withBoundedHead } from './statusSize.ts';
import { takeProgress, takeReleases, takeRetry } from './steps.ts';

interface Planned {
  /** As it is to be stored, `revision` included. */
  status: RolloutStatus;
  /** It would commit, and has to wait for a slot. */
  waitsForBudget: boolean;
  /** The head counts as applied from now on: the hook makes sure that no bound object was overlooked. */
  endsApply: boolean;
  resyncAfterSeconds?: number;
  events: NewEvent[];
  /** The ConfigMap of spec.releaseConfigMap, from the history as stored. */
  configMap?: ReleaseConfigMap;
  /** The ImagePolicy of spec.writeBack, from the history as stored. */
  derivedPolicy?: ImagePolicy;
  /** The Job of spec.targetRepository, until the copy is stored in the status. */
  copyJob?: CopyJob;
}

/** A plan that may be carried out as it was made from a cache: the next one puts right what the cache did not know. */
export interface ReversiblePlan extends Planned {
  commits: false;
  startsCopy: false;
}

/** A plan that cannot be taken back, and is carried out only once it was made from live reads. */
export interface IrreversiblePlan extends Planned {
  /** A new history head. */
  commits: boolean;
  /** A version that waits for it is to be copied. */
  startsCopy: boolean;
}

export type Plan = ReversiblePlan | IrreversiblePlan;

export function isReversible(plan: Plan): plan is ReversiblePlan {
  return !plan.commits && !plan.startsCopy;
}

export function planRollout(observed: Observed, now: EpochMs): Plan {
  const { rollout } = observed;
  if (rollout.metadata.deletionTimestamp) {
    return {
      status: rollout.status ?? {},
      commits: false,
      waitsForBudget: false,
      endsApply: false,
      startsCopy: false,
      events: [],
    };
  }
  const config = readConfig(rollout, observed);
  const stored = storedState(rollout.status);
  const requested = requestsOf(rollout);

  const retry = takeRetry(stored.history, requested, observed.healthChecks, now);
  const releases = takeReleases(observed, config, retry.history, stored, now);
  // Before a deployment is decided: the status in which a bake ends or starts is not stored yet.
  const progress = takeProgress(observed, config, releases.history, stored.conditions, now);
  const { available, barriers, authors } = releases;
  const { history } = progress;
  const conditions = setConditions(stored.conditions, [...releases.conditions, ...progress.conditions], now);
  const idle = [...retry.used, ...idleRequests(requested, history[0])];
  const decision = decide(
    observed,
    config,
    { ...stored, history, available, barriers, authors, conditions },
    idle,
    now,
  );

  const used = new Set([...idle, ...decision.used]);
  const left = requestsOf(rollout, used);
  const problems = [...config.problems, ...releases.problems];
  const bounded = withBoundedHead(decision.state.history, stored.history[0], config.historyLimit);
  const state = {
    ...decision.state,
    history: bounded,
    conditions: nextConditions(observed, config, decision, left, problems, now),
  };
  const named = namedGates(observed);
  const { gates, leftOut } = gateSummaries(observed, decision.evaluation, now);
  const listed = blockerList([...decision.evaluation.blockers, ...(decision.waiting?.blockers ?? [])]);
  const next: RolloutStatus = {
    ...releases.fields,
    ...nextStatus(observed, state, decision.evaluation, left, used),
    ...(decision.waiting?.request && { slotRequest: decision.waiting.request }),
    ...(named.length > 0 && { namedGates: named }),
    blockers: listed.blockers,
    gates: [...gates, ...(decision.waiting?.gates ?? [])],
  };
  const status = revised(rollout, fitted(next, [...leftOut, ...listed.leftOut], now));
  const events = [...retry.events, ...progress.events, ...decision.events];
  const changes = changeEvents(decision.evaluation, state.conditions, rollout.status);
  const looks = [releases, progress, decision, decision.evaluation].flatMap(({ requeueAt }) => requeueAt);
  const isOurs = !observed.configMapIsForeign && !observed.configMapUnsupported;
  const configMap = isOurs ? releaseConfigMap(rollout) : undefined;
  const policy = observed.writeBackProblem === undefined ? derivedPolicy(observed) : undefined;
  return {
    status,
    commits: decision.commits,
    startsCopy: Boolean(decision.evaluation.copy?.isAwaited && decision.evaluation.copy.begins),
    waitsForBudget: decision.waiting !== undefined,
    endsApply: progress.endsApply,
    ...resyncAfter(looks, observed, status, now),
    events: status === rollout.status ? [] : dated([...events, ...changes], status),
    ...(configMap && { configMap }),
    ...(policy && { derivedPolicy: policy }),
    ...(decision.evaluation.copy?.job && { copyJob: decision.evaluation.copy.job }),
  };
}

/** Neither a label that changes on a Namespace triggers a sync, nor a HealthCheck of another namespace. */
const UNSEEN_REQUEUE_S = 60;
/** The same while such a HealthCheck decides what happens next. */
const WATCHED_REQUEUE_S = 10;
const SHORTEST_S = 0.1;

/** Nothing where only a change that triggers a sync can make a difference. */
function resyncAfter(
  looks: readonly EpochMs[],
  { rollout: { metadata, spec }, healthChecks }: Observed,
  { history }: RolloutStatus,
  now: EpochMs,
): Pick<Plan, 'resyncAfterSeconds'> {
  const seconds = looks.map((at) => Math.max(SHORTEST_S, (at - now) / 1000));
  if (spec?.healthCheckSelector?.namespaceSelector) {
    const foreign = healthChecks.filter((check) => check.metadata.namespace !== metadata.namespace);
    const decides = foreign.some(({ status }) => status?.status !== 'Healthy' || isBaking(history?.[0]));
    seconds.push(decides ? WATCHED_REQUEUE_S : UNSEEN_REQUEUE_S);
  }
  return seconds.length > 0 ? { resyncAfterSeconds: Math.min(...seconds) } : {};
}

// `status.blockers` as it is stored: bounded, and without anything that the CRD would refuse.

/** Characters, as in the CRD. */
const MAX_VERSION = 128;
const MAX_NAME = 253;
const MAX_NAMESPACE = 63;
const MAX_USER = 128;

function blockerList(all: readonly Blocker[]): { blockers: Blocker[]; leftOut: LeftOut } {
  const blockers = all.slice(0, LIMITS.listedBlockers).map(stored);
  const leftOut =
    all.length > blockers.length ? [`status.blockers has ${blockers.length} of ${all.length} entries`] : [];
  return { blockers, leftOut };
}

function stored({ version, object, by, ...rest }: Blocker): Blocker {
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
function nextStatus(
  observed: Observed,
  state: RolloutState,
  { candidates, verdict, rejected, withdrawn, young, pending, copy }: Evaluation,
  { forceDeploy, bypassGates }: Requests,
  used: ReadonlySet<RequestKey>,
): RolloutStatus {
  const { rollout } = observed;
  const history = [...state.history];
  const waiting = pending ?? young[0]?.tag;
  const requested = [waiting, rollout.spec?.wantedVersion, forceDeploy, bypassGates].filter((tag) => tag !== undefined);
  const next = [...verdict.gated.slice(0, NEXT), ...candidates.slice(0, NEXT)];
  const deployed = history.map(({ version }) => version.tag);
  const matters = [...requested, ...deployed, ...next.map(({ tag }) => tag)];
  const available = bounded(state.available, matters);
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
    gatedReleaseCandidates: verdict.gated.filter(isKept),
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

/** What has Succeeded ran before there was a Rollout, or had nothing to prove. An entry without a bake is of an older version of this software. */
function hasRun({ appliedTime, bakeStatus }: HistoryEntry): boolean {
  return appliedTime !== undefined || bakeStatus === undefined || bakeStatus === 'Succeeded';
}

// `status.gates`: its RolloutGates as the Go controller's clients know them, and beside them the Gates that are closed.

/** How many closed Gates are shown. */
const SHOWN = 20;

/** Of many RolloutGates those that block are shown first; how many are left out is told. */
function gateSummaries(
  observed: Observed,
  evaluation: Evaluation,
  now: EpochMs,
): { gates: GateSummary[]; leftOut: LeftOut } {
  const closed = closedGates(observed, evaluation, now).slice(0, SHOWN);
  const requested = new Map(evaluation.requiredApprovals.map((each) => [each.gate.metadata.name ?? '', each]));
  const about = (each: GateSummary) => aboutPending(each, requested.get(each.name), evaluation.pending);
  const all = evaluation.verdict.summaries.map(about);
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

/** What waits may be no candidate, or not the newest. */
function aboutPending(
  gate: GateSummary,
  requested: RequiredApprovals | undefined,
  pending: string | undefined,
): GateSummary {
  return gate.passing && requested && pending !== undefined
    ? { ...gate, message: approvalsText(pending, requested) }
    : gate;
}

/** Those that hold the version that waits; where none waits, those that would hold any. */
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
