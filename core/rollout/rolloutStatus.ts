/** The status of a Rollout as it is stored after a decision: bounded, without anything that the CRD would reject. */
import type { Blocker, GateSummary, HistoryEntry, RolloutStatus } from '../../api/types.ts';
import { withRevision } from '../kube/statusRevision.ts';
import { LIMITS } from '../limits.ts';
import { oneLine } from '../text/oneLine.ts';
import type { DeploymentDecision, Evaluation } from './decideDeployment.ts';
import { unapplied } from './deployment/progress.ts';
import type { FoundBlocker } from './evaluation/blockers.ts';
import { namedGateRecords } from './evaluation/gatesOfRollout.ts';
import type { RolloutContext } from './evaluation/observed.ts';
import { handledRequests } from './evaluation/rolloutRequests.ts';
import { gateSummaries } from './gateSummaries.ts';
import { MAX_LISTED_RELEASES } from './release/candidates.ts';
import { boundedReleases } from './release/retention.ts';
import { fitStatus } from './statusSize.ts';

/** Characters, as in the CRD. */
const MAX_VERSION = 128;
const MAX_NAME = 253;
const MAX_NAMESPACE = 63;
const MAX_USER = 128;

/** Candidates that stay in `availableReleases`, however old: they may come next. */
const KEPT_CANDIDATES = 20;

/**
 * The next status, its revision included.
 * @param decision with its conditions, and with the newest deployment cut to its size
 * @param fields the fields of the image, from the releases
 */
export function nextStatus(decision: DeploymentDecision, fields: Partial<RolloutStatus>): RolloutStatus {
  const { context, evaluation, slotWait } = decision;
  const { observed, now } = context;
  const namedGates = namedGateRecords(observed);
  const { gates, leftOut } = gateSummaries(context, evaluation);
  const listed = listBlockers([...evaluation.blockers, ...(slotWait?.blockers ?? [])]);
  const next: RolloutStatus = {
    ...fields,
    ...versionFields(context, evaluation),
    ...(slotWait?.request && { slotRequest: slotWait.request }),
    ...(namedGates.length > 0 && { namedGates }),
    blockers: listed.blockers,
    gates: [...gates, ...(slotWait?.gates ?? [])],
  };
  return withRevision(observed.rollout, fitStatus(next, [...leftOut, ...listed.leftOut], now));
}

/** The conditions, and the fields about versions and requests. */
function versionFields(
  context: RolloutContext,
  { candidates, rolloutGatesResult, rejected, withdrawn, young, pendingVersion, copy }: Evaluation,
): RolloutStatus {
  const { observed, state, requests } = context;
  const { rollout } = observed;
  const { forceDeploy, bypassGates } = requests;
  const history = [...state.history];
  const named = [pendingVersion, rollout.spec?.wantedVersion, forceDeploy, bypassGates];
  const requested = named.filter((tag) => tag !== undefined);
  const next = [
    ...rolloutGatesResult.allowedByLists.slice(0, KEPT_CANDIDATES),
    ...candidates.slice(0, KEPT_CANDIDATES),
  ];
  const deployed = history.map(({ version }) => version.tag);
  const available = boundedReleases(state.available, [...requested, ...deployed, ...next.map(({ tag }) => tag)]);
  const kept = new Set(available.map(({ tag }) => tag));
  const known = new Set([...kept, ...deployed]);
  const isKept = ({ tag }: { tag: string }) => kept.has(tag);
  const rolledBack = state.rolledBack.filter((tag) => known.has(tag));
  const barriers = state.barriers.filter((tag) => known.has(tag));
  const authors = state.authors.filter(({ tag }) => known.has(tag));
  const handledRequest = handledRequests(rollout, requests.used);
  const copied = copy?.stored ?? rollout.status?.copy;
  return {
    handledRequest,
    conditions: [...state.conditions],
    ...runningVersions(context, history),
    pendingVersion,
    ...(history.length > 0 && { history }),
    availableReleases: [...available],
    availableReleasesCount: available.length,
    releaseCandidates: candidates.filter(isKept),
    gatedReleaseCandidates: rolloutGatesResult.allowedByLists.filter(isKept),
    ...(rejected.some(isKept) && { rejectedReleases: rejected.filter(isKept) }),
    ...(withdrawn.length > 0 && { withdrawnReleases: withdrawn }),
    ...(young.length > 0 && { youngReleases: young.slice(0, MAX_LISTED_RELEASES) }),
    ...(rolledBack.length > 0 && { rolledBackReleases: rolledBack }),
    ...(barriers.length > 0 && { rollbackBarriers: barriers }),
    ...(authors.length > 0 && { releaseAuthors: authors }),
    copy: copied,
  };
}

/** The version that runs, and the one that is committed and not applied everywhere yet. */
function runningVersions(
  { observed: { rollout, bindings }, config }: RolloutContext,
  [head, ...older]: readonly HistoryEntry[],
): Pick<RolloutStatus, 'currentVersion' | 'rollingOutVersion'> {
  if (!head) return {};
  const { tag } = head.version;
  if (wasDeployed(head) || unapplied(head, bindings, rollout).length === 0) return { currentVersion: tag };
  const current = config.kuberikCompat ? tag : older.find(wasDeployed)?.version.tag;
  return { currentVersion: current, rollingOutVersion: tag };
}

/**
 * Whether a deployment has run.
 * A deployment that Succeeded without proof ran before the Rollout existed, or had nothing to prove. An entry of the Go
 * controller may have no bake.
 */
function wasDeployed({ appliedTime, bakeStatus }: HistoryEntry): boolean {
  return appliedTime !== undefined || bakeStatus === undefined || bakeStatus === 'Succeeded';
}

/** The first blockers, for `status.blockers`. */
function listBlockers(all: readonly FoundBlocker[]): { blockers: Blocker[]; leftOut: string[] } {
  const blockers = all.slice(0, LIMITS.listedBlockers).map(storedBlocker);
  const leftOut =
    all.length > blockers.length ? [`status.blockers has ${blockers.length} of ${all.length} entries`] : [];
  return { blockers, leftOut };
}

/** The blocker without its words, and without anything that the CRD would reject. */
function storedBlocker({ version, object, by, text: _, commands: __, ...rest }: FoundBlocker): Blocker {
  return {
    ...rest,
    version: version?.slice(0, MAX_VERSION),
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

/** Whether no RolloutGate is closed, by the stored `status.gates`. */
export function arePassing(gates: readonly GateSummary[] = []): boolean {
  return gates.every(({ passing }) => passing !== false);
}

/** The version that automation deploys next by the stored status: the newest that RolloutGates allow. */
export function nextAutomatic({ gatedReleaseCandidates = [], gates }: RolloutStatus): string | undefined {
  return arePassing(gates) ? gatedReleaseCandidates[0]?.tag : undefined;
}
