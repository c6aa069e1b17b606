/** `status.blockers`, for the steps and causes of an explanation. */
import { STATUS_SHORTENED } from '../../../api/conditions.ts';
import type { ObjectName } from '../../../api/kubernetes.ts';
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

/** Whether the blocker is about this object. */
export function isAbout({ object }: Blocker, { kind, namespace, name }: ObjectName): boolean {
  return object?.kind === kind && object.name === name && (object.namespace ?? '') === namespace;
}

/** Whether the status lists all blockers: it has room for more, and was not shortened. */
export function listsAllBlockers({ status }: Rollout): boolean {
  const hasRoom = (status?.blockers?.length ?? 0) < LIMITS.listedBlockers;
  return hasRoom && findCondition(status?.conditions, STATUS_SHORTENED)?.status !== 'True';
}
