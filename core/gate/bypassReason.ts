/** The reason for a bypass of closed Gates, and the record of its author. Each bypass needs a new reason. */
import { BYPASS_REASON, BYPASSED_BY } from '../../api/annotations.ts';
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import { annotate } from '../kube/annotate.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { isServiceAccount } from '../kube/users.ts';
import { LIMITS } from '../limits.ts';
import { MAX_USER } from '../record/record.ts';

/** The time for which a reason counts for a DELETE or status write by its author, which can't carry a reason. */
const COUNTS_FOR_MS = 5 * 60_000;

export interface GrantedBypass {
  granted: true;
  /** The closed Gates that are bypassed, by `refKey`. */
  gates: readonly string[];
  reason: string;
}

/** Whether the user may bypass the closed Gates; if not, why. */
export type Bypass = GrantedBypass | { granted: false; why: string };

/** The reason that is new in this write; undefined if there is none. */
export function freshReason(object: AnyObject, old: AnyObject | undefined): string | undefined {
  const reason = bypassReason(object);
  return old && reason !== undefined && reason !== bypassReason(old) ? reason : undefined;
}

/** Whether the write only repeats the stored reason, which bypasses nothing a second time. */
export function repeatsReason(object: AnyObject, old: AnyObject | undefined): boolean {
  const reason = bypassReason(object);
  return old !== undefined && reason !== undefined && reason === bypassReason(old);
}

/** The reason that the user gave on the stored object within the last minutes; undefined if there is none. */
export function recentReason(old: AnyObject, user: string, now: EpochMs): string | undefined {
  const given = givenReason(old);
  return given?.by === user && now - given.at <= COUNTS_FOR_MS && now >= given.at - 1000 ? given.reason : undefined;
}

/** The reason on the stored object, with its author and time. */
export function givenReason(old: AnyObject): { by: string; at: EpochMs; reason: string } | undefined {
  const [, time, by] = /^(\S+) (.*)$/s.exec(old.metadata.annotations?.[BYPASSED_BY] ?? '') ?? [];
  const at = parseTime(time);
  const reason = bypassReason(old);
  return at === undefined || by === undefined || reason === undefined ? undefined : { by, at, reason };
}

/**
 * The object with a record of its reason's author and time; text that a client writes into the record is dropped. If
 * the reason is removed, the record of a bypass stays as a trace, so that no write can hide an earlier one, but has no
 * effect.
 * @param granted whether the reason bypasses a Gate: otherwise it gets no record
 */
export function recordReason<T extends AnyObject>(
  object: T,
  old: AnyObject | undefined,
  user: string,
  now: EpochMs,
  granted: boolean,
): T {
  const before = old?.metadata.annotations?.[BYPASSED_BY];
  const isSameReason = old !== undefined && bypassReason(object) === bypassReason(old);
  if (isSameReason) return annotate(object, BYPASSED_BY, before);
  const isNew = granted && freshReason(object, old) !== undefined;
  return annotate(object, BYPASSED_BY, isNew ? `${formatTime(now)} ${user}` : old && endedRecord(old));
}

const MAX_ENDED_REASON_CHARACTERS = 256;

/** The record that stays on an object without a reason: `earlier: <time> <user>: <reason>`. */
export function endedRecord(object: AnyObject): string | undefined {
  const record = object.metadata.annotations?.[BYPASSED_BY];
  const given = givenReason(object);
  return given ? `earlier: ${record}: ${given.reason.slice(0, MAX_ENDED_REASON_CHARACTERS)}` : record;
}

/** Whether the user may request a bypass: ServiceAccounts only if the installation lists them. */
export function mayRequestBypass(user: string, bypassServiceAccounts: readonly string[]): boolean {
  return !isServiceAccount(user) || bypassServiceAccounts.includes(user);
}

/** Why the user can bypass no Gate with this reason, whatever the verb bypass allows. */
export function bypassProblem(
  user: string,
  reason: string,
  bypassServiceAccounts: readonly string[],
): string | undefined {
  if (!mayRequestBypass(user, bypassServiceAccounts)) {
    return `${user} is a ServiceAccount and not listed in BYPASS_SERVICE_ACCOUNTS`;
  }
  // Name and reason stay in memory until the write is stored. A forged request is never stored, so they must be short.
  if (user.length > MAX_USER) return `users with names longer than ${MAX_USER} characters cannot bypass Gates`;
  if (reason.length <= LIMITS.bypassReason) return undefined;
  return `the reason has ${reason.length} characters, and at most ${LIMITS.bypassReason} are allowed`;
}

function bypassReason(object: AnyObject): string | undefined {
  return object.metadata.annotations?.[BYPASS_REASON]?.trim() || undefined;
}
