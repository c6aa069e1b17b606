/**
 * Who put each version onto a list of a RolloutGate, and who last opened or closed it: the JSON text of an annotation that only the webhook
 * writes. An entry ends with what it is about: a version that is taken off its list, a gate that is opened or closed again.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { RolloutGate } from '../../api/types.ts';
import { formatTime, parseTime, wholeSeconds } from '../kube/time.ts';
import { MAX_REASON, MAX_USER, oneLine } from './record.ts';

const LISTS = ['allowedVersions', 'rejectedVersions'] as const;
type ListedField = (typeof LISTS)[number] | 'passing';

export interface Listed {
  field: ListedField;
  /** The listed version; absent for `passing`. */
  version?: string;
  /** The authenticated user. */
  by: string;
  at: EpochMs;
  reason?: string;
}

type Spec = RolloutGate['spec'];

/** Beside a record of approvals as large as it gets, both fit into the annotations of an object. */
const MAX_LISTED = 32;
/** Longer than any record of ours. */
const MAX_LENGTH = 65_536;
/** The length of a tag. */
const MAX_VERSION = 128;

/** `write`: absent for a write of nobody's own, of which nothing is noted but what has ended. */
export function notedLists(
  spec: Spec,
  old: Spec,
  before: readonly Listed[],
  write: { by: string; reason: string | undefined; now: EpochMs } | undefined,
): Listed[] {
  const reason = oneLine((write?.reason ?? '').slice(0, MAX_REASON));
  const noted = (field: ListedField, version?: string): Listed[] =>
    write
      ? [
          {
            field,
            ...(version !== undefined && { version }),
            by: oneLine(write.by.slice(0, MAX_USER)),
            at: wholeSeconds(write.now),
            ...(reason && { reason }),
          },
        ]
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

/** The newest note of it, where it still stands. */
export function listedOn(
  record: readonly Listed[],
  field: ListedField,
  version?: string,
): Omit<Listed, 'field' | 'version'> | undefined {
  return record.findLast((each) => each.field === field && each.version === version);
}

function isPassing(spec: Spec | undefined): boolean {
  return spec?.passing ?? true;
}

export function formatListed(record: readonly Listed[]): string | undefined {
  if (record.length === 0) return undefined;
  return JSON.stringify(record.map((each) => ({ ...each, at: formatTime(each.at) })));
}

/** The entries of a record; an entry that the webhook didn't write counts as none. */
export function parseListed(text: string | undefined): Listed[] {
  if (!text || text.length > MAX_LENGTH) return [];
  try {
    const entries: unknown = JSON.parse(text);
    return Array.isArray(entries) ? entries.slice(-MAX_LISTED).flatMap(entryOf) : [];
  } catch {
    return [];
  }
}

function entryOf(value: Record<string, unknown> | null): Listed[] {
  const { field, version, by, at, reason } = value ?? {};
  const time = parseTime(typeof at === 'string' ? at : undefined);
  const known = [...LISTS, 'passing' as const].find((each) => each === field);
  if (!known || typeof by !== 'string' || time === undefined) return [];
  return [
    {
      field: known,
      ...(typeof version === 'string' && { version }),
      by,
      at: time,
      ...(typeof reason === 'string' && { reason }),
    },
  ];
}
