/**
 * The record of a RolloutGate's lists: the users who put each version onto a list, and the user who last opened or
 * closed the RolloutGate. It is JSON in an annotation that only the webhook writes.
 * An entry is dropped when its version is removed from the list, or the RolloutGate is opened or closed again.
 */

import type { EpochMs } from '../../api/kubernetes.ts';
import type { RolloutGate } from '../../api/types.ts';
import { MAX_TAG_CHARACTERS } from '../kube/tag.ts';
import { type ChangedBy, changedByOf, type Entry, newChange, parseRecord, storedEntry, textsOf } from './record.ts';

const LISTS = ['allowedVersions', 'rejectedVersions'] as const;
type ListedField = (typeof LISTS)[number] | 'passing';

export interface ListEntry extends ChangedBy {
  field: ListedField;
  /** The listed version; absent for `passing`. */
  version?: string;
}

type Spec = RolloutGate['spec'];

/** Entries of a record. Together with the largest record of approvals they fit into the annotations of an object. */
const MAX_ENTRIES = 32;

/**
 * The entries after a write.
 * @param write undefined if no user made the write: then entries that no longer apply are only removed
 */
export function nextListEntries(
  spec: Spec,
  old: Spec,
  before: readonly ListEntry[],
  write: { by: string; reason: string | undefined; now: EpochMs } | undefined,
): ListEntry[] {
  const newEntries = (field: ListedField, version?: string): ListEntry[] =>
    write
      ? [{ field, ...(version !== undefined && { version }), ...newChange(write.by, write.reason, write.now) }]
      : [];
  const kept = before.filter((each) => {
    if (each.field === 'passing') return isPassing(spec) === isPassing(old);
    return each.version !== undefined && spec?.[each.field]?.includes(each.version);
  });
  const added = LISTS.flatMap((field) => {
    const known = new Set(old?.[field]);
    const versions = (spec?.[field] ?? []).filter(
      (version) => !known.has(version) && version.length <= MAX_TAG_CHARACTERS,
    );
    return [...new Set(versions)].flatMap((version) => newEntries(field, version));
  });
  const passingChange = isPassing(spec) === isPassing(old) ? [] : newEntries('passing');
  return [...kept, ...added, ...passingChange].slice(-MAX_ENTRIES);
}

/** The change that put a version onto a list, or last opened or closed the RolloutGate, if it is recorded. */
export function listedOn(record: readonly ListEntry[], field: ListedField, version?: string): ChangedBy | undefined {
  return record.findLast((each) => each.field === field && each.version === version);
}

function isPassing(spec: Spec | undefined): boolean {
  return spec?.passing ?? true;
}

export function formatListed(record: readonly ListEntry[]): string | undefined {
  return record.length > 0 ? JSON.stringify(record.map(storedEntry)) : undefined;
}

/** The entries of a record; an entry that the webhook didn't write counts as none. */
export function parseListed(text: string | undefined): ListEntry[] {
  const entries = parseRecord(text);
  return Array.isArray(entries) ? entries.slice(-MAX_ENTRIES).flatMap(entryOf) : [];
}

function entryOf(entry: Entry): ListEntry[] {
  const changed = changedByOf(entry);
  const field = [...LISTS, 'passing' as const].find((each) => each === entry?.field);
  return changed && field ? [{ field, ...textsOf(entry, 'version'), ...changed }] : [];
}
