/**
 * The users who put each version onto a list of a RolloutGate, and who last opened or closed it: the JSON text of an
 * annotation that only the webhook writes.
 * An entry is dropped when its version is taken off the list, or the gate is opened or closed again.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { RolloutGate } from '../../api/types.ts';
import { type ChangedBy, changedBy, changedByOf, type Entry, parseRecord, stored, textsOf } from './record.ts';

const LISTS = ['allowedVersions', 'rejectedVersions'] as const;
type ListedField = (typeof LISTS)[number] | 'passing';

export interface Listed extends ChangedBy {
  field: ListedField;
  /** The listed version; absent for `passing`. */
  version?: string;
}

type Spec = RolloutGate['spec'];

/** Beside a record of approvals as large as it gets, both fit into the annotations of an object. */
const MAX_LISTED = 32;
/** Longer than any record of ours. */
const MAX_LENGTH = 65_536;
/** The length of a tag. */
const MAX_VERSION = 128;

/** `write`: absent for a write that no user made: only entries that no longer apply are removed. */
export function notedLists(
  spec: Spec,
  old: Spec,
  before: readonly Listed[],
  write: { by: string; reason: string | undefined; now: EpochMs } | undefined,
): Listed[] {
  const noted = (field: ListedField, version?: string): Listed[] =>
    write
      ? [{ field, ...(version !== undefined && { version }), ...changedBy(write.by, write.reason, write.now) }]
      : [];
  const stands = before.filter((each) => {
    if (each.field === 'passing') return isPassing(spec) === isPassing(old);
    return each.version !== undefined && spec?.[each.field]?.includes(each.version);
  });
  const added = LISTS.flatMap((field) => {
    const known = new Set(old?.[field]);
    const versions = (spec?.[field] ?? []).filter((version) => !known.has(version) && version.length <= MAX_VERSION);
    return [...new Set(versions)].flatMap((version) => noted(field, version));
  });
  const turned = isPassing(spec) === isPassing(old) ? [] : noted('passing');
  return [...stands, ...added, ...turned].slice(-MAX_LISTED);
}

/** The newest entry for it, if it still applies. */
export function listedOn(record: readonly Listed[], field: ListedField, version?: string): ChangedBy | undefined {
  return record.findLast((each) => each.field === field && each.version === version);
}

function isPassing(spec: Spec | undefined): boolean {
  return spec?.passing ?? true;
}

export function formatListed(record: readonly Listed[]): string | undefined {
  if (record.length === 0) return undefined;
  return JSON.stringify(record.map(stored));
}

/** The entries of a record; an entry that the webhook didn't write counts as none. */
export function parseListed(text: string | undefined): Listed[] {
  const entries = parseRecord(text, MAX_LENGTH);
  return Array.isArray(entries) ? entries.slice(-MAX_LISTED).flatMap(entryOf) : [];
}

function entryOf(entry: Entry): Listed[] {
  const changed = changedByOf(entry);
  const field = [...LISTS, 'passing' as const].find((each) => each === entry?.field);
  return changed && field ? [{ field, ...textsOf(entry, 'version'), ...changed }] : [];
}
