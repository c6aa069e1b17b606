/**
 * The common part of all records: the user, the time and the reason of a change. Records are JSON in annotations that
 * only the webhook writes.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import {
  ACCEPTED_REQUEST,
  APPROVALS,
  APPROVE_FOR_REASON,
  APPROVE_REASON,
  BYPASS_REASON,
  BYPASSED_BY,
  BYPASSED_GATES,
  CLOSE_REASON,
  CONTINUE_REQUEST,
  GATE_APPROVALS,
  LISTED,
  OPEN_REASON,
  PIN_RECORD,
  REASON,
  REQUEST,
  SCHEDULED_BY,
} from '../../api/annotations.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import { formatTime, parseTime, wholeSeconds } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { boundedLine } from '../text/oneLine.ts';

export interface ChangedBy {
  /** The authenticated user. */
  by: string;
  /** The time, in whole seconds. */
  at: EpochMs;
  reason?: string;
}

/** A change in its stored form. */
export interface StoredChange extends Omit<ChangedBy, 'at'> {
  /** RFC 3339. */
  at: string;
}

/** The change as text: `by sre at 2026-03-01T12:00:00Z: leaks memory`. */
export function changeText({ by, at, reason }: StoredChange): string {
  return `by ${by} at ${at}${reason ? `: ${reason}` : ''}`;
}

/** Characters of a user name. */
export const MAX_USER = 256;

/** The change that a user makes now. The name is kept as it is: approvals are compared with it. */
export function newChange(user: string, reason: string | undefined, now: EpochMs): ChangedBy {
  const text = boundedLine(reason ?? '', LIMITS.reason);
  return { by: user.slice(0, MAX_USER), at: wholeSeconds(now), ...(text && { reason: text }) };
}

/** The entry in its stored form, with its time as text. */
export function storedEntry<T extends { at: EpochMs }>(entry: T): Omit<T, 'at'> & { at: string } {
  return { ...entry, at: formatTime(entry.at) };
}

/** Characters of a record: more than 64 approvals with the longest names and reasons in the widest script have. */
const MAX_RECORD_CHARACTERS = 196_608;

/** The JSON value of a record; undefined for text that is no JSON, or longer than any record of the webhook. */
export function parseRecord(text: string | undefined): unknown {
  if (!text || text.length > MAX_RECORD_CHARACTERS) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type Entry = Record<string, unknown> | null | undefined;

/** The change in an entry; undefined for an entry that the webhook didn't write. */
export function changedByOf(entry: Entry): ChangedBy | undefined {
  const { by, at } = entry ?? {};
  const time = parseTime(typeof at === 'string' ? at : undefined);
  if (typeof by !== 'string' || time === undefined) return undefined;
  return { by: by.slice(0, MAX_USER), at: time, ...textsOf(entry, 'reason') };
}

/** The record of a request that takes effect once. */
export interface RecordedRequest extends ChangedBy {
  /** Uid of the admission request that made it. */
  id: string;
}

/** The record of the request that a write makes. */
export function newRequest(
  { uid, userInfo }: Pick<AdmissionRequest, 'uid' | 'userInfo'>,
  now: EpochMs,
): RecordedRequest {
  return { id: uid, ...newChange(userInfo.username, undefined, now) };
}

/** The request in an entry; undefined for an entry that the webhook didn't write. */
export function requestInEntry(entry: Entry): RecordedRequest | undefined {
  const changed = changedByOf(entry);
  const { id } = textsOf(entry, 'id');
  return changed && id ? { id, ...changed } : undefined;
}

/** The fields of an entry with these names that are strings. */
export function textsOf<Name extends string>(entry: Entry, ...names: Name[]): Partial<Record<Name, string>> {
  const texts: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const text = entry?.[name];
    if (typeof text === 'string') texts[name] = text;
  }
  return texts;
}

// Warnings about reasons that are shortened when stored.

/** The most stored characters of the reason in each annotation. */
const STORED_CHARACTERS = {
  [APPROVE_FOR_REASON]: LIMITS.reason,
  [APPROVE_REASON]: LIMITS.reason,
  [BYPASS_REASON]: LIMITS.reason,
  [REASON]: LIMITS.reason,
  [OPEN_REASON]: LIMITS.gateReason,
  [CLOSE_REASON]: LIMITS.gateReason,
};

type Annotated = Pick<KubeObject, 'metadata'> | null | undefined;

/** A Warning for each reason in this write of a Rollout, RolloutGate or Gate that is shortened. */
export function reasonWarnings(object: Annotated, before: Annotated): string[] {
  return Object.entries(STORED_CHARACTERS).flatMap(([key, most]) => {
    const reason = object?.metadata.annotations?.[key];
    const isNew = reason !== before?.metadata.annotations?.[key];
    return reason !== undefined && isNew && reason.length > most
      ? [`${key} has ${reason.length} characters: the first ${most} are stored`]
      : [];
  });
}

// Warnings about records that a client writes.

const RECORDS = [
  REQUEST,
  PIN_RECORD,
  APPROVALS,
  LISTED,
  GATE_APPROVALS,
  ACCEPTED_REQUEST,
  SCHEDULED_BY,
  CONTINUE_REQUEST,
  BYPASSED_BY,
  BYPASSED_GATES,
] as const;

/**
 * A Warning for each record in this write that the webhook replaces. There is none for a removed record, since Git
 * syncs remove it.
 */
export function recordWarnings(sent: Annotated, before: Annotated, stored: Annotated): string[] {
  const isReplaced = (key: string) => {
    const [text, old, next] = [sent, before, stored].map((each) => each?.metadata.annotations?.[key]);
    return text !== undefined && text !== old && text !== next;
  };
  return RECORDS.filter(isReplaced).map((key) => `${key} is written by the webhook: your change of it is ignored`);
}
