/** When a Gate opened or closed last. What is less urgent than suspending and resuming waits a while from then on. */
import { OPENED } from '../../api/conditions.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { parseTime } from '../kube/time.ts';

/**
 * By the Gate's own status; `now` where that does not say so yet, 0 where it says nothing.
 * @param opened what the Gate is now
 */
export function changedAt(gate: Gate | undefined, opened: boolean, now: EpochMs): EpochMs {
  const said = findCondition(gate?.status?.conditions, OPENED);
  if (!said) return 0;
  return said.status === (opened ? 'True' : 'False') ? (parseTime(said.lastTransitionTime) ?? 0) : now;
}
