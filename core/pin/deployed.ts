/** The deployment a Rollout stands at, as stored: what Flux objects follow (DESIGN section 3.4). */
import type { Rollout, Stamp } from '../../api/types.ts';

/** undefined for a Rollout that has deployed nothing. `back` 1 is the deployment before the newest, and so on. */
export function stampOf(rollout: Rollout | undefined, back = 0): Stamp | undefined {
  const entry = rollout?.status?.history?.[back];
  const tag = entry?.version?.tag;
  if (!rollout || !entry || typeof tag !== 'string' || tag === '') return undefined;
  return { rollout: rollout.metadata.name ?? '', id: entry.id ?? 0, version: tag, uid: rollout.metadata.uid ?? '' };
}

/** For people: `my-app 1.1.0 (7)`. */
export function readable(stamp: { rollout: string; version?: string; id?: number }): string {
  return `${stamp.rollout} ${stamp.version ?? ''} (${stamp.id ?? 0})`;
}
