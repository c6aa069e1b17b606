/** The Rollouts that a budget selects. They come from Metacontroller's cache, which may be behind. */
import type { HistoryEntry, Rollout, SlotRequest } from '../../api/types.ts';
import { isCounted, isManual } from '../rollout/deployment/history.ts';
import type { BudgetConfig } from './budgetConfig.ts';
import { ByVersion, type ImageVersion, imageOf } from './imageVersion.ts';

/** A Rollout that the budget selects, with the facts that its slots depend on. */
export interface Member {
  rollout: Rollout;
  uid: string;
  image: string;
  /** Whether the Rollout has reported its image, which it does in its first sync. */
  isKnown: boolean;
  /** The index into `spec.order.values`; an unlisted value comes last. */
  wave: number;
  head: HistoryEntry | undefined;
  request: SlotRequest | undefined;
  /** Deployments, newest first, except those that were cancelled before they had a result. */
  reported: readonly HistoryEntry[];
  /** Deployments that count as failures of their version once they have failed. */
  accountable: readonly HistoryEntry[];
  /** `reported`, indexed by version. */
  byVersion: ByVersion<HistoryEntry>;
}

type VersionOutcome = 'done' | 'failed' | 'underWay' | 'other';

/** The Rollouts that the budget selects, in their order. */
export function fleetOf(
  rollouts: readonly Rollout[],
  { order, countsManual }: Pick<BudgetConfig, 'order' | 'countsManual'>,
): Member[] {
  const waves = new Map(order?.values.map((value, index) => [value, index]));
  return rollouts.map((rollout) => {
    const { metadata, status } = rollout;
    const history = status?.history ?? [];
    const value = order && metadata.labels?.[order.label];
    const reported = history.filter(isCounted);
    const image = imageOf(rollout);
    const byVersion = new ByVersion<HistoryEntry>();
    for (const entry of reported) byVersion.add({ ...entry.version, image }, '', entry);
    return {
      rollout,
      uid: metadata.uid ?? '',
      image,
      isKnown: status?.image !== undefined,
      wave: (value === undefined ? undefined : waves.get(value)) ?? waves.size,
      head: history[0],
      request: status?.slotRequest,
      reported,
      accountable: countsManual ? history : history.filter((entry) => !isManual(entry)),
      byVersion,
    };
  });
}

/** The outcome of a version in one Rollout, by its newest deployment. */
export function outcomeOf({ rollout, byVersion }: Member, version: ImageVersion): VersionOutcome {
  switch (byVersion.first(version)?.bakeStatus) {
    case 'Succeeded':
      return rollout.status?.rolledBackReleases?.includes(version.tag) ? 'failed' : 'done';
    case 'Failed':
    // A cancelled deployment is in `reported` only if it was retried, so after a failure.
    case 'Cancelled':
      return 'failed';
    case 'Deploying':
    case 'InProgress':
      return 'underWay';
    default:
      return 'other';
  }
}
