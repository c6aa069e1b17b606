/** Which releases may follow the deployed one, in the order of the policy. */
import type { ImagePolicy } from '../../api/flux.ts';
import type { RolloutStatus, VersionInfo } from '../../api/types.ts';
import { isLegalTag } from '../kube/tag.ts';
import { type PolicyRules, policyRules } from '../policy/rules.ts';

export type Withdrawal = NonNullable<RolloutStatus['withdrawnReleases']>[number];

export interface Releases {
  /** Newest first. */
  candidates: VersionInfo[];
  /** Those that would be candidates, had they not been rolled back and could the policy select them. The latest first. */
  withdrawn: Withdrawal[];
}

/** How many withdrawn releases a status lists. */
const MAX_WITHDRAWN = 20;

const NONE: ReadonlySet<string> = new Set();
const ROLLED_BACK = 'it failed and was rolled back: deploy it by hand to try it again';

/**
 * `available` is in the order of discovery, which decides where the policy ranks two tags alike or not at all. Without a
 * deployed tag all releases that the policy can select are candidates; with one that cannot be placed, none is.
 */
export function releasesAfter(
  available: readonly VersionInfo[],
  deployed: string | undefined,
  policy: ImagePolicy | undefined,
  { rejected = NONE, rolledBack = NONE }: { rejected?: ReadonlySet<string>; rolledBack?: ReadonlySet<string> } = {},
): Releases {
  const rules = policyRules(policy);
  const order = orderOf(available, rules);
  const following = available
    .filter(({ tag }, index) => isLegalTag(tag) && !rejected.has(tag) && index === order.discovered.get(tag))
    .filter(({ tag }) => deployed === undefined || (tag !== deployed && order.isNewer(tag, deployed)));
  const refusal = (tag: string) => (rolledBack.has(tag) ? ROLLED_BACK : rules.refusal(tag));
  const judged = following.map((release) => ({ release, reason: refusal(release.tag) }));
  return {
    candidates: judged
      .flatMap(({ release, reason }) => (reason === undefined ? [release] : []))
      .sort((a, b) => order.compare(b.tag, a.tag)),
    withdrawn: judged
      .flatMap(({ release: { tag }, reason }) => (reason === undefined ? [] : [{ tag, reason }]))
      .slice(-MAX_WITHDRAWN)
      .reverse(),
  };
}

interface Order {
  /** First index of each tag. */
  discovered: ReadonlyMap<string, number>;
  compare(a: string, b: string): number;
  isNewer(tag: string, than: string): boolean;
}

function orderOf(available: readonly VersionInfo[], { rank }: PolicyRules): Order {
  const discovered = new Map<string, number>();
  available.forEach(({ tag }, index) => {
    if (!discovered.has(tag)) discovered.set(tag, index);
  });
  const place = (tag: string) => discovered.get(tag) ?? -1;
  return {
    discovered,
    compare: (a, b) => rank(a, b) || place(a) - place(b),
    isNewer(tag, than) {
      const order = rank(tag, than);
      if (order !== undefined && order !== 0) return order > 0;
      return discovered.has(than) && place(tag) > place(than);
    },
  };
}
