/** The fresh reason and its record (core/flux/bypass.ts) for objects of any kind that a Gate holds. */
import type { UserInfo } from '../../api/admission.ts';
import { BYPASSED_BY } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import { freshReason as fresh, reasonForDelete, recordReason } from '../flux/bypass.ts';

type AnyObject = KubeObject<any, any>;

/** The reason, where it is new in this write; the one of last time does not count again. */
export function freshReason(object: AnyObject, oldObject: AnyObject | null | undefined): string | undefined {
  return fresh(object as FluxObject, (oldObject ?? undefined) as FluxObject | undefined);
}

/** What the annotation BYPASSED_BY must say after this write; undefined: nothing. */
export function bypassRecord(
  object: AnyObject,
  oldObject: AnyObject | null | undefined,
  user: UserInfo,
  now: EpochMs,
): string | undefined {
  const old = (oldObject ?? undefined) as FluxObject | undefined;
  return recordReason(object as FluxObject, old, user.username, now).metadata.annotations?.[BYPASSED_BY];
}

/** For a DELETE: the reason that the same user gave on the stored object in the last five minutes. */
export function recordedReason(stored: AnyObject, user: UserInfo, now: EpochMs): string | undefined {
  return reasonForDelete(stored as FluxObject, user.username, now);
}
