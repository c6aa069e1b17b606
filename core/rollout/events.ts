/** News as events with keys: a sync that is repeated tells nothing twice. */
import type { Rollout, RolloutStatus } from '../../api/types.ts';
import type { News, PlannedEvent } from './observed.ts';

/** What is not about a deployment is about the status revision that brings it. */
export function eventsOf(news: readonly News[], rollout: Rollout, status: RolloutStatus): PlannedEvent[] {
  return news.map(({ type, reason, message, about }) => ({
    type,
    reason,
    message,
    key: [rollout.metadata.uid, reason, about ?? `revision-${status.revision}`].join('/'),
  }));
}
