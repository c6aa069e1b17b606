/** Who pinned a Rollout to a version, or removed its pin, when and why: the JSON text of an annotation that only the webhook writes. */
import { DEPLOY_MESSAGE, PIN_RECORD, REASON } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { MAX_REASON, MAX_USER, oneLine } from './record.ts';

export interface PinRecord {
  /** What it is pinned to; absent where the pin was removed. */
  version?: string;
  /** The version of the pin that was removed. */
  from?: string;
  /** The authenticated user. */
  by: string;
  /** RFC 3339. */
  at: string;
  reason?: string;
}

/** Longer than any of ours. */
const MAX_LENGTH = 8192;
/** Of a tag. */
const MAX_VERSION = 128;

/** For the webhook: the text of the annotation after this write by `user`; undefined where there was never a pin. */
export function notedPin(
  rollout: Rollout,
  before: Rollout | undefined,
  user: string,
  now: EpochMs,
): string | undefined {
  const [wanted, old] = [rollout.spec?.wantedVersion || undefined, before?.spec?.wantedVersion || undefined];
  const stored = before?.metadata.annotations?.[PIN_RECORD];
  if (wanted === old) return parse(stored) && stored;
  const { annotations } = rollout.metadata;
  const fresh = (key: string) =>
    annotations?.[key] === before?.metadata.annotations?.[key] ? undefined : annotations?.[key];
  const given = (wanted && fresh(DEPLOY_MESSAGE)) || fresh(REASON) || '';
  const reason = oneLine(given.slice(0, MAX_REASON));
  const record: PinRecord = {
    ...(wanted ? { version: wanted.slice(0, MAX_VERSION) } : { from: old?.slice(0, MAX_VERSION) ?? '' }),
    by: oneLine(user.slice(0, MAX_USER)),
    at: formatTime(now),
    ...(reason && { reason }),
  };
  return JSON.stringify(record);
}

/** undefined where it is not of the pin that the Rollout has, or has no more. */
export function pinRecordOf({ metadata, spec }: Rollout): PinRecord | undefined {
  const record = parse(metadata.annotations?.[PIN_RECORD]);
  return record?.version === (spec?.wantedVersion || undefined) ? record : undefined;
}

function parse(text: string | undefined): PinRecord | undefined {
  if (!text || text.length > MAX_LENGTH) return undefined;
  try {
    const { version, from, by, at, reason } = (JSON.parse(text) ?? {}) as Record<string, unknown>;
    if (typeof by !== 'string' || typeof at !== 'string' || parseTime(at) === undefined) return undefined;
    return {
      ...(typeof version === 'string' && { version }),
      ...(typeof from === 'string' && { from }),
      by,
      at,
      ...(typeof reason === 'string' && { reason }),
    };
  } catch {
    return undefined;
  }
}
