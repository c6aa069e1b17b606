/** Releases that a RolloutGate rejects: never deployed while they are listed, by hand or otherwise. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { RolloutGate, RolloutStatus, VersionInfo } from '../../api/types.ts';
import { formatTime } from '../kube/time.ts';

export type Rejection = NonNullable<RolloutStatus['rejectedReleases']>[number];

/** Name of the first gate that rejects the tag. */
export function rejectedBy(gates: readonly RolloutGate[], tag: string): string | undefined {
  return gates.find((gate) => gate.spec?.rejectedVersions?.includes(tag))?.metadata.name;
}

/** In the order of discovery; the time of an earlier rejection by the same gate is kept. */
export function rejections(
  available: readonly VersionInfo[],
  gates: readonly RolloutGate[],
  before: readonly Rejection[] | undefined,
  now: EpochMs,
): Rejection[] {
  const tags = [...new Set(available.map(({ tag }) => tag))];
  return tags.flatMap((tag) => {
    const gate = rejectedBy(gates, tag);
    if (gate === undefined) return [];
    const known = before?.find((r) => r.tag === tag && r.gate === gate);
    return [known ?? { tag, gate, timestamp: formatTime(now) }];
  });
}
