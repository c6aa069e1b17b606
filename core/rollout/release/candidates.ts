/** The candidates: the releases that may follow the deployed one, in the order of the policy, and their minimum age. */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { formatTime, LAST_INSTANT, parseTime } from '../../kube/time.ts';
import { selectedTag } from '../../policy/imagePolicy.ts';
import { type PolicyRules, policyRules } from '../../policy/rules.ts';

type Withdrawal = NonNullable<RolloutStatus['withdrawnReleases']>[number];

export interface NextReleases {
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
  /** In milliseconds; undefined if releases of any age may be deployed. */
  minimumAge: number | undefined;
  now: EpochMs;
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
  { rejected, rolledBack, minimumAge, now }: Exclusions,
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
    const until = youngUntil(release, minimumAge, now);
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
 * The order of the policy. Tags that the policy ranks alike have the order of discovery, as in `available`. One that it
 * can't rank follows the newest of those that were discovered before it: with its own discovery alone the order could
 * be a cycle.
 */
export function releaseOrder(available: readonly VersionInfo[], { rank }: PolicyRules): ReleaseOrder {
  const discovered = new Map<string, number>();
  /** Each tag itself, or the ranked one that it follows. */
  const ranked = new Map<string, string>();
  let newest: string | undefined;
  available.forEach(({ tag }, index) => {
    if (discovered.has(tag)) return;
    discovered.set(tag, index);
    if (rank(tag, tag) === undefined) {
      if (newest !== undefined) ranked.set(tag, newest);
      return;
    }
    ranked.set(tag, tag);
    if (newest === undefined || rank(tag, newest)! > 0) newest = tag;
  });
  const place = (tag: string) => discovered.get(tag) ?? -1;
  const compare = (a: string, b: string): number => {
    const [left, right] = [ranked.get(a), ranked.get(b)];
    const isBoth = left !== undefined && right !== undefined;
    const order = isBoth ? rank(left, right) : Number(left !== undefined) - Number(right !== undefined);
    return order || place(a) - place(b);
  };
  return {
    discovered,
    compare,
    isNewer(tag, than) {
      if (discovered.has(tag) && discovered.has(than)) return compare(tag, than) > 0;
      // A tag that was never discovered has no place in `available`, so it is ranked even if it parses only loosely.
      return (rank(tag, than, !discovered.has(than)) ?? 0) > 0;
    },
  };
}

// The time for which a release has to be known here before it may be deployed.
// Our own clock measures the time, because the publisher of an image chooses its date.
// If the clock is set back, a release waits longer, never shorter.

/** Reason of DeploymentBlocked, and of Ready before a first deployment. */
export const RELEASE_TOO_YOUNG = 'ReleaseTooYoung';

type YoungRelease = NonNullable<RolloutStatus['youngReleases']>[number];

/** When a release is old enough to be deployed; undefined if it is. `minimumAge` in milliseconds. */
function youngUntil({ firstSeen }: VersionInfo, minimumAge: number | undefined, now: EpochMs): EpochMs | undefined {
  if (minimumAge === undefined) return undefined;
  const at = Math.min((parseTime(firstSeen) ?? now) + minimumAge, LAST_INSTANT);
  return at > now ? at : undefined;
}
