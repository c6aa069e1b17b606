/** A bypass of closed Gates: a reason that is new in the write, and the record of its author. */
import { BYPASS_REASON, BYPASSED_BY } from '../../api/annotations.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import { annotate } from '../kube/annotate.ts';
import { formatTime, parseTime } from '../kube/time.ts';

/** A reason counts for a DELETE, or a write of status, by the same person within this time: neither can carry one. */
const COUNTS_FOR_MS = 5 * 60_000;

/** A Flux object, a Gate or a Rollout. */
type AnyObject = KubeObject<any, any>;

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/** Whether the writer may bypass the closed Gates; if not, why. */
export type Bypass = { granted: true } | { granted: false; refused: string };

/** The reason that this write gives for the first time; undefined for none. */
export function freshReason(object: AnyObject, oldObject: AnyObject | undefined): string | undefined {
  const reason = reasonOf(object);
  return oldObject && reason !== undefined && reason !== reasonOf(oldObject) ? reason : undefined;
}

/** The reason that `user` gave on the stored object shortly before. */
export function recentReason(oldObject: AnyObject, user: string, now: EpochMs): string | undefined {
  const given = givenReason(oldObject);
  return given?.by === user && now - given.at <= COUNTS_FOR_MS && now >= given.at - 1000 ? given.reason : undefined;
}

/** The reason on the stored object, with its author and time. */
export function givenReason(oldObject: AnyObject): { by: string; at: EpochMs; reason: string } | undefined {
  const [, time, by] = /^(\S+) (.*)$/s.exec(oldObject.metadata.annotations?.[BYPASSED_BY] ?? '') ?? [];
  const at = parseTime(time);
  const reason = reasonOf(oldObject);
  return at === undefined || by === undefined || reason === undefined ? undefined : { by, at, reason };
}

/**
 * The object with the record of its reason's author and time; only the webhook's own record counts.
 * A reason that bypasses nothing (`granted` is false) has none.
 */
export function recordReason<T extends AnyObject>(
  object: T,
  oldObject: AnyObject | undefined,
  user: string,
  now: EpochMs,
  granted: boolean,
): T {
  if (reasonOf(object) === undefined) return annotate(object, BYPASSED_BY, undefined);
  if (freshReason(object, oldObject)) {
    return annotate(object, BYPASSED_BY, granted ? `${formatTime(now)} ${user}` : undefined);
  }
  return annotate(object, BYPASSED_BY, oldObject?.metadata.annotations?.[BYPASSED_BY]);
}

/** A bypass is for people, and for the ServiceAccounts that the installation lists. */
export function mayRequestBypass(user: string, bypassServiceAccounts: readonly string[]): boolean {
  return !user.startsWith(SERVICE_ACCOUNT) || bypassServiceAccounts.includes(user);
}

function reasonOf(object: AnyObject): string | undefined {
  return object.metadata.annotations?.[BYPASS_REASON]?.trim() || undefined;
}
