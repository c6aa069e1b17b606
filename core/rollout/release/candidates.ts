/** Which releases may follow the deployed one, in the order of the policy. */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { formatTime } from '../../kube/time.ts';
import { selectedTag } from '../../policy/imagePolicy.ts';
import { type PolicyRules, policyRules } from '../../policy/rules.ts';
import type { YoungRelease } from './age.ts';

export type Withdrawal = NonNullable<RolloutStatus['withdrawnReleases']>[number];

export interface Releases {
  /** Newest first. */
  candidates: VersionInfo[];
  /** Those that are not candidates only because they were rolled back or the policy cannot select them. The latest first. */
  withdrawn: Withdrawal[];
  /** Those that will be candidates once they are old enough, newest first. */
  young: YoungRelease[];
}

/** How many withdrawn, and how many young releases a status lists. */
const MAX_LISTED = 20;

export interface Exclusions {
  rejected?: ReadonlySet<string>;
  rolledBack?: ReadonlySet<string>;
  /** When a release is old enough to be deployed; undefined where it is. */
  youngUntil?: (release: VersionInfo) => EpochMs | undefined;
}

const NONE: ReadonlySet<string> = new Set();
const NEVER = () => undefined;
const ROLLED_BACK = 'it failed and was rolled back: deploy it by hand to try it again';

/**
 * `available` is in the order of discovery, which decides where the policy ranks two tags alike or not at all. Without a
 * deployed tag all releases that the policy can select are candidates; with one that cannot be placed, none is.
 */
export function releasesAfter(
  available: readonly VersionInfo[],
  deployed: string | undefined,
  policy: ImagePolicy | undefined,
  { rejected = NONE, rolledBack = NONE, youngUntil = NEVER }: Exclusions = {},
): Releases {
  const rules = policyRules(policy);
  const order = releaseOrder(available, rules);
  const following = available
    .filter(({ tag }, index) => isLegalTag(tag) && !rejected.has(tag) && index === order.discovered.get(tag))
    .filter(({ tag }) => deployed === undefined || (tag !== deployed && order.isNewer(tag, deployed)));
  // Flux may know fields of the policy that we don't: what it selects now is not evaluated again.
  const selected = selectedTag(policy);
  const refusal = (tag: string) =>
    rolledBack.has(tag) ? ROLLED_BACK : tag === selected ? undefined : rules.refusal(tag);
  const evaluated = following.map((release) => ({ release, reason: refusal(release.tag) }));
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
    young: young.slice(0, MAX_LISTED),
    withdrawn: evaluated
      .flatMap(({ release: { tag }, reason }) => (reason === undefined ? [] : [{ tag, reason }]))
      .slice(-MAX_LISTED)
      .reverse(),
  };
}

export interface ReleaseOrder {
  /** First index of each tag. */
  discovered: ReadonlyMap<string, number>;
  compare(a: string, b: string): number;
  isNewer(tag: string, than: string): boolean;
}

/** Where the policy ranks two tags alike or not at all, the order of `available`, which is that of discovery, decides. */
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
      // One that was never discovered has no other place.
      const order = rank(tag, than, !discovered.has(than));
      if (order !== undefined && order !== 0) return order > 0;
      return discovered.has(than) && place(tag) > place(than);
    },
  };
}
