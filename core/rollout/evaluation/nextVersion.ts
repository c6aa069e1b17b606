/** Which releases may follow the deployed one, in the order of the policy. */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { HistoryEntry, RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { formatTime, LAST_INSTANT, parseTime } from '../../kube/time.ts';
import { selectedTag } from '../../policy/imagePolicy.ts';
import { type PolicyRules, policyRules } from '../../policy/rules.ts';
import type { Rollback, RollbackTarget } from '../deployment/rollback.ts';
import type { RolloutContext } from './observed.ts';
import { type RolloutGatesResult, rejectedBy } from './rolloutGates.ts';

export type Withdrawal = NonNullable<RolloutStatus['withdrawnReleases']>[number];

interface NextReleases {
  /** Newest first. */
  candidates: VersionInfo[];
  /**
   * Newer releases that are no candidates, because they were rolled back or the policy can't select them. The latest
   * first.
   */
  withdrawn: Withdrawal[];
  /** Releases that become candidates once they are old enough, newest first. */
  young: YoungRelease[];
  isNewer: ReleaseOrder['isNewer'];
}

/** The most withdrawn releases, and the most young ones, in a status. */
export const MAX_LISTED_RELEASES = 20;

interface Exclusions {
  rejected: ReadonlySet<string>;
  rolledBack: ReadonlySet<string>;
  /** When a release is old enough to be deployed; undefined if it is. */
  youngUntil: (release: VersionInfo) => EpochMs | undefined;
}

const ROLLED_BACK = 'it failed and was rolled back: to try it again, deploy it manually';

function deletedText(tag: string, selected: string): string {
  return `the policy selects the older ${selected}: ${tag} is no longer among the image's tags`;
}

/**
 * The releases that may follow the deployed tag. Without a deployed tag these are all that the policy can select; if
 * that tag has no place in the order, none.
 * @param available in the order of discovery, which decides between two tags that the policy does not rank
 */
export function releasesAfter(
  available: readonly VersionInfo[],
  deployed: string | undefined,
  policy: ImagePolicy | undefined,
  { rejected, rolledBack, youngUntil }: Exclusions,
): NextReleases {
  const rules = policyRules(policy);
  const order = releaseOrder(available, rules);
  const following = available
    .filter(({ tag }, index) => isLegalTag(tag) && !rejected.has(tag) && index === order.discovered.get(tag))
    .filter(({ tag }) => deployed === undefined || (tag !== deployed && order.isNewer(tag, deployed)));
  const selected = selectedTag(policy);
  const rejection = (tag: string) => {
    if (rolledBack.has(tag)) return ROLLED_BACK;
    // Flux may know fields of the policy that we don't, so a tag that it selects now is not evaluated.
    if (tag === selected) return undefined;
    const isDeleted = selected !== undefined && (rules.rank(tag, selected) ?? 0) > 0;
    return rules.rejection(tag) ?? (isDeleted ? deletedText(tag, selected) : undefined);
  };
  const evaluated = following.map((release) => ({ release, reason: rejection(release.tag) }));
  const selectable = evaluated
    .flatMap(({ release, reason }) => (reason === undefined ? [release] : []))
    .sort((a, b) => order.compare(b.tag, a.tag));
  const young = selectable.flatMap((release) => {
    const until = youngUntil(release);
    return until === undefined ? [] : [{ tag: release.tag, deployableAt: formatTime(until) }];
  });
  const isYoung = new Set(young.map(({ tag }) => tag));
  return {
    candidates: selectable.filter(({ tag }) => !isYoung.has(tag)),
    young,
    isNewer: order.isNewer,
    withdrawn: evaluated
      .flatMap(({ release: { tag }, reason }) => (reason === undefined ? [] : [{ tag, reason }]))
      .slice(-MAX_LISTED_RELEASES)
      .reverse(),
  };
}

interface ReleaseOrder {
  /** The first index of each tag. */
  discovered: ReadonlyMap<string, number>;
  compare(a: string, b: string): number;
  isNewer(tag: string, than: string): boolean;
}

/**
 * The order of the policy. Tags that the policy ranks alike, or can't rank, have the order of discovery, as in
 * `available`.
 */
export function releaseOrder(available: readonly VersionInfo[], { rank }: PolicyRules): ReleaseOrder {
  const discovered = new Map<string, number>();
  available.forEach(({ tag }, index) => {
    if (!discovered.has(tag)) discovered.set(tag, index);
  });
  const place = (tag: string) => discovered.get(tag) ?? -1;
  return {
    discovered,
    compare: (a, b) => rank(a, b) || place(a) - place(b),
    isNewer(tag, than) {
      // A tag that was never discovered has no place in `available`, so it is ranked even if it parses only loosely.
      const order = rank(tag, than, !discovered.has(than));
      if (order !== undefined && order !== 0) return order > 0;
      return discovered.has(than) && place(tag) > place(than);
    },
  };
}

// The time for which a release has to be known here before it may be deployed.
// It counts by our own clock, because the publisher of an image chooses its date.
// If the clock is set back, a release waits longer, never shorter.

/** Reason of DeploymentBlocked, and of Ready before a first deployment. */
export const RELEASE_TOO_YOUNG = 'ReleaseTooYoung';

export type YoungRelease = NonNullable<RolloutStatus['youngReleases']>[number];

/** When a release is old enough to be deployed; undefined if it is. `minimumAge` in milliseconds. */
export function youngUntil(
  { firstSeen }: VersionInfo,
  minimumAge: number | undefined,
  now: EpochMs,
): EpochMs | undefined {
  if (minimumAge === undefined) return undefined;
  const at = Math.min((parseTime(firstSeen) ?? now) + minimumAge, LAST_INSTANT);
  return at > now ? at : undefined;
}

// Which version comes next.

/** The version that comes next, and how it was chosen. */
export type Choice =
  | NextChoice
  /** It waits for RolloutGates, upstream Rollouts, a budget, or the decision about a rollback. */
  | { trigger: 'Automatic'; is: 'waiting'; version: string }
  /** The requested version can't be deployed. `rejectedBy`: the RolloutGate that rejects it. */
  | { trigger: 'Manual' | 'InitialVersion'; is: 'impossible'; version: string; problem: string; rejectedBy?: string }
  /** There is no version, or the requested one is deployed already. */
  | { trigger: 'Automatic' | 'Manual'; is: 'nothing'; version?: undefined };

/** A version that is deployed once nothing blocks it. InitialVersion: it ran before the Rollout existed. */
export type NextChoice = { is: 'next'; version: string } & (
  | { trigger: 'Automatic' | 'Manual' | 'InitialVersion' }
  | { trigger: 'Rollback'; rollback: RollbackTarget }
);

/** The versions from which the next one is chosen. */
interface Versions {
  /** Newest first, as `automatic`. */
  candidates: readonly VersionInfo[];
  /** The versions that automation may deploy now. */
  automatic: readonly VersionInfo[];
  rollback: Rollback | undefined;
}

/**
 * The next version. A history begins with initialVersion; later, in this order: wantedVersion, force-deploy, a
 * rollback, the newest candidate that the RolloutGates allow.
 */
export function chooseNext(context: RolloutContext, { candidates, automatic, rollback }: Versions): Choice {
  const { observed, state, requests } = context;
  const { spec } = observed.rollout;
  const { forceDeploy } = requests;
  if (!state.history[0] && spec?.initialVersion) return choiceOf('InitialVersion', spec.initialVersion, context);
  if (spec?.wantedVersion) return choiceOf('Manual', spec.wantedVersion, context);
  if (forceDeploy) {
    const isKnown = state.available.some(({ tag }) => tag === forceDeploy);
    if (isKnown) return choiceOf('Manual', forceDeploy, context);
    const problem = `force deploy version ${forceDeploy} is not in available releases`;
    return { trigger: 'Manual', is: 'impossible', version: forceDeploy, problem };
  }
  if (rollback?.is === 'possible') return { trigger: 'Rollback', is: 'next', version: rollback.to.tag, rollback };
  const next = rollback?.until === undefined ? automatic[0] : undefined;
  if (next) return { trigger: 'Automatic', is: 'next', version: next.tag };
  const [newest] = candidates;
  return newest
    ? { trigger: 'Automatic', is: 'waiting', version: newest.tag }
    : { trigger: 'Automatic', is: 'nothing' };
}

function choiceOf(
  trigger: 'Manual' | 'InitialVersion',
  version: string,
  { observed: { rolloutGates }, state: { history } }: RolloutContext,
): Choice {
  if (!isLegalTag(version)) {
    const problem = `version ${JSON.stringify(version)} is not a valid image tag, so it is not deployed: correct it`;
    return { trigger, is: 'impossible', version, problem };
  }
  if (version === history[0]?.version.tag) return { trigger: 'Manual', is: 'nothing' };
  const gate = rejectedBy(rolloutGates, version);
  if (gate === undefined) return { trigger, is: 'next', version };
  const problem = `RolloutGate '${gate}' rejects version ${version}: to deploy it, remove it from spec.rejectedVersions`;
  return { trigger, is: 'impossible', version, problem, rejectedBy: gate };
}

/**
 * The versions that RolloutGates and upstream Rollouts let automation deploy now, newest first. A first deployment
 * ignores closed RolloutGates, but a list that allows another candidate chooses it.
 */
export function automaticVersions(
  { allowed, eligible }: RolloutGatesResult,
  head: HistoryEntry | undefined,
  gateFirstDeployment: boolean,
): VersionInfo[] {
  const isUngated = head === undefined && !gateFirstDeployment && allowed.length === 0;
  return isUngated ? eligible : allowed;
}

/**
 * Whether automation selects a newer version. Only then can upstream Rollouts, health, a running bake or a missing
 * ImagePolicy hold the version. A user's choice ignores them, and a rollback goes to a version that has passed them.
 * RolloutGates hold `initialVersion` too, if they hold first deployments.
 */
export function isForward({ trigger }: Choice): boolean {
  return trigger === 'Automatic';
}
