/** Which releases may follow the deployed one (reference section 2.3; ordered by the policy, quirk Q13). */
import type { ImagePolicy } from '../../api/flux.ts';
import type { VersionInfo } from '../../api/types.ts';
import { type Ranking, rankingOf } from './policyOrder.ts';
import { isLegalTag } from './tag.ts';

/**
 * Newest first. `available` is in the order of discovery, which decides where the policy ranks two tags alike or not at
 * all. Without a deployed tag all releases are candidates; with one that cannot be placed, none is.
 */
export function releaseCandidates(
  available: readonly VersionInfo[],
  deployed: string | undefined,
  policy: ImagePolicy | undefined,
  rejected: ReadonlySet<string> = new Set(),
): VersionInfo[] {
  const order = orderOf(available, rankingOf(policy));
  return available
    .filter(({ tag }, index) => isLegalTag(tag) && !rejected.has(tag) && index === order.discovered.get(tag))
    .filter(({ tag }) => deployed === undefined || (tag !== deployed && order.isNewer(tag, deployed)))
    .sort((a, b) => order.compare(b.tag, a.tag));
}

interface Order {
  /** First index of each tag. */
  discovered: ReadonlyMap<string, number>;
  compare(a: string, b: string): number;
  isNewer(tag: string, than: string): boolean;
}

function orderOf(available: readonly VersionInfo[], rank: Ranking): Order {
  const discovered = new Map<string, number>();
  available.forEach(({ tag }, index) => {
    if (!discovered.has(tag)) discovered.set(tag, index);
  });
  const ranked = (tag: string) => rank(tag, tag) !== undefined;
  const place = (tag: string) => discovered.get(tag) ?? -1;
  return {
    discovered,
    // Tags the policy cannot rank come before all others: an order must hold for any three of them.
    compare: (a, b) => rank(a, b) || Number(ranked(a)) - Number(ranked(b)) || place(a) - place(b),
    isNewer(tag, than) {
      const order = rank(tag, than);
      if (order !== undefined && order !== 0) return order > 0;
      return discovered.has(than) && place(tag) > place(than);
    },
  };
}
