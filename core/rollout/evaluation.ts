/** Where a Rollout stands: what could come next and everything in its way. Computed before a decision, and again after it. */
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { HistoryEntry, VersionInfo } from '../../api/types.ts';
import { deployCutoff } from '../deployment/bake.ts';
import { obstructing, sortedChecks, unhealthyMessage } from '../deployment/healthChecks.ts';
import { boundTo } from '../deployment/progress.ts';
import { holdsAfter, type Rollback, rollbackOf } from '../deployment/rollback.ts';
import { type JudgedGate, judgeGates } from '../gate/judge.ts';
import { refKey } from '../gate/refs.ts';
import { releasesAfter, type Withdrawal } from '../release/candidates.ts';
import type { RolloutConfig } from './config.ts';
import { type GateVerdict, gatesOf, judgeRolloutGates, shownBypass } from './gates.ts';
import type { Observed } from './observed.ts';
import { type Rejection, rejectedBy, rejections } from './rejected.ts';
import type { Requests } from './requests.ts';
import { isForward, type Obstacles, obstacles, type Selection, select } from './select.ts';

export interface Situation {
  candidates: VersionInfo[];
  rejected: Rejection[];
  withdrawn: Withdrawal[];
  verdict: GateVerdict;
  selection: Selection;
  /** The version that waits, be it for a decision or for something in its way. */
  pending?: string;
  /** Whether and why a failed version is taken back. */
  rollback?: Rollback;
  obstacles: Obstacles;
  /** Why automatic deployments wait for health. */
  unhealthy?: string;
  /** The Gates that keep `pending` out. */
  closed: JudgedGate[];
  /** When one of its Gates changes by itself. */
  wakeAt: EpochMs[];
}

/** What a decision starts from. */
export interface Standing {
  history: readonly HistoryEntry[];
  available: readonly VersionInfo[];
  /** Releases that were rolled back, and that nobody has deployed since. */
  rolledBack: readonly string[];
  barriers: readonly string[];
  conditions: NonNullable<Observed['rollout']['status']>['conditions'];
  /** Those not used up. */
  requests: Requests;
}

export function situationOf(observed: Observed, standing: Standing, config: RolloutConfig, now: EpochMs): Situation {
  const { rollout, imagePolicy } = observed;
  const { available, requests } = standing;
  const head = standing.history[0];
  const deployed = head?.version.tag;
  const gates = gatesOf(rollout, observed.rolloutGates);
  const rejected = rejections(available, gates, rollout.status?.rejectedReleases, now);
  const rejectedTags = new Set(rejected.map(({ tag }) => tag));
  const { candidates, withdrawn } = releasesAfter(available, deployed, imagePolicy, {
    rejected: rejectedTags,
    rolledBack: new Set(standing.rolledBack),
  });
  const bypass = candidates.find(({ tag }) => tag === requests.bypassGates)?.tag;
  const shown = bypass ?? shownBypass(deployed, candidates, standing.conditions);
  const verdict = judgeRolloutGates(gates, candidates, shown);
  const wantedVersion = rollout.spec?.wantedVersion;
  const rollback = rollbackOf({ ...standing, config, rejectedBy: (tag) => rejectedBy(gates, tag) });
  const selection = select({
    wantedVersion,
    forceDeploy: requests.forceDeploy,
    available,
    candidates,
    verdict,
    head,
    rollback,
    rejectedBy: (tag) => rejectedBy(gates, tag),
  });
  const pending = pendingVersion(selection, candidates, wantedVersion || requests.forceDeploy);
  const judged = pending === undefined ? { all: [], closed: [] } : judge(observed, pending, requests.glass ?? [], now);
  const checks = sortedChecks(observed.healthChecks);
  const holds = holdsAfter(head, config);
  const goesForward = head?.bakeStatus === 'Failed' && !holds;
  const unhealthy = unhealthyMessage(goesForward ? obstructing(checks, head, deployCutoff(head)) : checks);
  const failure = { holds, unblocked: requests.unblockFailed };
  return {
    candidates,
    rejected,
    withdrawn,
    verdict,
    selection,
    ...(pending !== undefined && { pending }),
    ...(rollback && { rollback }),
    obstacles: obstacles(head, verdict, unhealthy !== undefined, failure),
    ...(unhealthy !== undefined && { unhealthy }),
    closed: judged.closed,
    wakeAt: judged.all.flatMap(({ until }) => until ?? []),
  };
}

function pendingVersion({ manual, next, problem }: Selection, candidates: readonly VersionInfo[], asked?: string) {
  if (next !== undefined) return next;
  if (manual) return problem === undefined ? undefined : asked;
  return candidates[0]?.tag;
}

/** An opening for one version is the Rollout's alone: an object that requires the same Gate sees it closed and could not take it. */
function judge(
  { rollout, bindings, gateRefs, gates }: Observed,
  version: string,
  glass: readonly string[],
  now: EpochMs,
) {
  const byPath = new Map(gates.map((gate) => [path(gate), gate]));
  const ofBound = new Set(boundTo(rollout, bindings).flatMap(({ spec }) => (spec?.gates ?? []).map(refKey)));
  const judged = gateRefs.map((ref) => {
    const wanted = ofBound.has(refKey(ref)) ? undefined : version;
    return judgeGates([ref], (each) => byPath.get(refKey(each)), now, wanted);
  });
  const closed = judged.flatMap((each) => each.closed);
  return {
    all: judged.flatMap(({ all }) => all),
    closed: closed.filter(({ ref }) => ofBound.has(refKey(ref)) || !glass.includes(refKey(ref))),
  };
}

function path({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Whether `selection.next` may be deployed now. Gates hold every deployment; the rest holds automatic ones only. */
export function mayDeploy({ selection, obstacles: held, closed }: Situation): boolean {
  if (selection.next === undefined || closed.length > 0) return false;
  return !isForward(selection) || !(held.bake || held.failure || held.gates || held.health);
}
