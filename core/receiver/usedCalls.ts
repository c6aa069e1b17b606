/**
 * The webhook calls a Gate has taken, kept on the Gate itself so that neither a restart nor another replica takes one
 * twice. The annotation's text: `<unix seconds>:<hash>` joined with `,`, oldest first.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import { CLOCK_TOLERANCE_MS } from '../gate/gateRequests.ts';
import { shortHash } from '../kube/names.ts';

/** A call's timestamp may be five minutes off in both directions: after ten it is refused for its age. An ID token is refused earlier. */
const KEEP_MS = 10 * 60_000 + 1000;
/** Calls that one Gate takes in a minute, all replicas together. */
export const CALLS_PER_MINUTE = 10;

export interface UsedCall {
  at: EpochMs;
  hashes: string[];
}

/** Entries that are not ours or too old to matter are left out. */
export function parseUsedCalls(text: string | undefined, now: EpochMs): UsedCall[] {
  return (text ?? '').split(',').flatMap((entry) => {
    const [, seconds, hashes] = /^(\d{1,12}):([0-9a-f.]{16,40})$/.exec(entry) ?? [];
    const at = Number(seconds) * 1000;
    // A time in the future would count as the last minute's until long after it.
    const counts = at <= now + CLOCK_TOLERANCE_MS && now - at < KEEP_MS;
    return hashes !== undefined && counts ? [{ at, hashes: hashes.split('.') }] : [];
  });
}

export function formatUsedCalls(calls: readonly UsedCall[]): string {
  return calls.map(({ at, hashes }) => `${Math.floor(at / 1000)}:${hashes.join('.')}`).join(',');
}

/** Both the nonce and the signature: the signature does not cover the nonce, so a new nonce on an old call proves nothing. */
export function callHashes(nonce: string, signature: string): string[] {
  return [shortHash(`nonce ${nonce}`), shortHash(`signature ${signature}`)];
}

/** For the webhook: what this write must store. `text` is that of a write that makes a request. No writer can remove a call that still counts. */
export function keptCalls(text: string | undefined, oldText: string | undefined, now: EpochMs): string | undefined {
  const all = new Map(
    [...parseUsedCalls(oldText, now), ...parseUsedCalls(text, now)].map((c) => [c.hashes.join('.'), c]),
  );
  if (all.size === 0) return undefined;
  return formatUsedCalls([...all.values()].sort((a, b) => a.at - b.at));
}
