/** When to look again although nothing was written. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';

/** Labels of namespaces wake nobody (DESIGN section 4). */
const NAMESPACE_LOOK_S = 60;
const MIN_S = 0.1;

/** Seconds; undefined when only a change can make a difference. */
export function resyncAfter(wakeAt: readonly EpochMs[], { spec }: Rollout, now: EpochMs): number | undefined {
  const seconds = wakeAt.map((at) => Math.max(MIN_S, (at - now) / 1000));
  if (spec?.healthCheckSelector?.namespaceSelector) seconds.push(NAMESPACE_LOOK_S);
  return seconds.length > 0 ? Math.min(...seconds) : undefined;
}
