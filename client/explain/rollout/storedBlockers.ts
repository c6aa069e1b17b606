/** `status.blockers`, for the steps and causes of an explanation. */
import { STATUS_SHORTENED } from '../../../api/conditions.ts';
import type { KindName } from '../../../api/kinds.ts';
import type { NamespacedName } from '../../../api/kubernetes.ts';
import type { Blocker, Rollout } from '../../../api/types.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { LIMITS } from '../../../core/limits.ts';

/** The blockers of `version` and those of every version. */
export function storedBlockers({ status }: Rollout, version: string | undefined): readonly Blocker[] {
  return (status?.blockers ?? []).filter((each) => each.version === undefined || each.version === version);
}

export function blockerOf(blockers: readonly Blocker[] | undefined, type: Blocker['type']): Blocker | undefined {
  return blockers?.find((each) => each.type === type);
}

/** The blocker of an object; `unknown` if the status may not list all blockers. */
export function storedHold(
  { status }: Rollout,
  blockers: readonly Blocker[],
  kind: KindName,
  { namespace, name }: NamespacedName,
): Blocker | 'none' | 'unknown' {
  const found = blockers.find(
    ({ object }) => object?.kind === kind && object.name === name && (object.namespace ?? '') === namespace,
  );
  if (found) return found;
  const isWhole = (status?.blockers?.length ?? 0) < LIMITS.listedBlockers;
  const isShortened = findCondition(status?.conditions, STATUS_SHORTENED)?.status === 'True';
  return isWhole && !isShortened ? 'none' : 'unknown';
}
