/**
 * The records of a Rollout's pin and of a Gate's calendar: the user who set or removed the pin, or set the calendar.
 * The records are JSON in annotations that only the webhook writes.
 */

import { DEPLOY_MESSAGE, PIN_RECORD, REASON, SCHEDULED_BY } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { sameJson } from '../kube/json.ts';
import { MAX_TAG_CHARACTERS } from '../kube/tag.ts';
import { changedByOf, type Entry, newChange, parseRecord, type StoredChange, storedEntry, textsOf } from './record.ts';

/** The pin, or its removal. */
export interface PinRecord extends StoredChange {
  /** The pinned version; absent if the pin was removed. */
  version?: string;
  /** The version of the pin that was removed. */
  from?: string;
}

/** The text of the annotation PIN_RECORD after a write by `user`; undefined if there was never a pin. */
export function nextPinRecord(
  rollout: Rollout,
  before: Rollout | undefined,
  user: string,
  now: EpochMs,
): string | undefined {
  const [wanted, old] = [rollout.spec?.wantedVersion || undefined, before?.spec?.wantedVersion || undefined];
  const known = before?.metadata.annotations?.[PIN_RECORD];
  if (wanted === old) return parse(known) && known;
  const { annotations } = rollout.metadata;
  const fresh = (key: string) =>
    annotations?.[key] === before?.metadata.annotations?.[key] ? undefined : annotations?.[key];
  const version = wanted
    ? { version: wanted.slice(0, MAX_TAG_CHARACTERS) }
    : { from: old?.slice(0, MAX_TAG_CHARACTERS) ?? '' };
  const reason = (wanted && fresh(DEPLOY_MESSAGE)) || fresh(REASON);
  return JSON.stringify({ ...version, ...storedEntry(newChange(user, reason, now)) });
}

/** The record of a Rollout's pin, or of the pin's removal; undefined if it is the record of another pin. */
export function pinRecordOf({ metadata, spec }: Rollout): PinRecord | undefined {
  const record = parse(metadata.annotations?.[PIN_RECORD]);
  return record?.version === (spec?.wantedVersion || undefined) ? record : undefined;
}

/** The text of the annotation SCHEDULED_BY after a write by `user`; undefined for a Gate without a calendar. */
export function nextScheduleRecord(gate: Gate, old: Gate | undefined, user: string, now: EpochMs): string | undefined {
  const { schedule } = gate.spec;
  if (!schedule) return undefined;
  const known = old?.metadata.annotations?.[SCHEDULED_BY];
  if (old && sameJson(schedule, old.spec.schedule)) return parse(known) && known;
  const given = gate.metadata.annotations?.[REASON];
  const reason = given === old?.metadata.annotations?.[REASON] ? undefined : given;
  return JSON.stringify(storedEntry(newChange(user, reason, now)));
}

/** The record of a Gate's calendar. */
export function scheduledBy({ metadata, spec }: Gate): StoredChange | undefined {
  return spec.schedule && parse(metadata.annotations?.[SCHEDULED_BY]);
}

/** A record; undefined for a text that the webhook didn't write. */
function parse(text: string | undefined): PinRecord | undefined {
  const entry = parseRecord(text) as Entry;
  const changed = changedByOf(entry);
  return changed && { ...textsOf(entry, 'version', 'from'), ...storedEntry(changed) };
}
