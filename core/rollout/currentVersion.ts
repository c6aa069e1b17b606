/** Which version runs, and which one is committed and not applied everywhere yet. */
import type { HistoryEntry, RolloutStatus } from '../../api/types.ts';
import { boundTo, unapplied } from '../deployment/progress.ts';
import type { Observed } from '../evaluation/observed.ts';

export function currentVersion(
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
