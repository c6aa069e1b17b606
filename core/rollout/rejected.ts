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
  const rejecting = new Map<string, string>();
  for (const { spec, metadata } of gates.toReversed()) {
    for (const tag of spec?.rejectedVersions ?? []) rejecting.set(tag, metadata.name ?? '');
  }
  const known = new Map((before ?? []).toReversed().map((each) => [`${each.gate} ${each.tag}`, each]));
  return tags.flatMap((tag) => {
    const gate = rejecting.get(tag);
    if (gate === undefined) return [];
    return [known.get(`${gate} ${tag}`) ?? { tag, gate, timestamp: formatTime(now) }];
  });
}
