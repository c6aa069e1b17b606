/** Calls of authorized senders: whether a call is new, and the annotations with its request for the Gate. */

import { OPEN_FOR, USED_CALLS } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { openRequestHasEffect } from '../gate/gateApprovals.ts';
import {
  annotatedRequest,
  CLOCK_TOLERANCE_MS,
  type GateAction,
  isLegalTarget,
  REASON_KEYS,
  REQUESTED_AT_KEYS,
} from '../gate/gateRequests.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';

/** The answer to a call. */
export type CallDecision =
  /** The annotations to write to the Gate; null removes one. */
  | { status: 200; annotations: Record<string, string | null> }
  /** `reason`: for our log only. */
  | { status: 400 | 429; reason: string; retryAfterSeconds?: number };

interface VerifiedCall {
  /** The time of the call, by the sender's clock. */
  at: EpochMs;
  /** Hashes that identify the call. */
  hashes: string[];
  body: Uint8Array;
  /** The verified caller, stored before the reason; undefined if the caller is known only to have the shared secret. */
  by?: string;
}

export function acceptCall(gate: Gate, call: VerifiedCall, now: EpochMs): CallDecision {
  const reject = (reason: string): CallDecision => ({ status: 400, reason });
  const { at, hashes, by } = call;
  // A call to an earlier Gate of this name must not count again: the record of its use was on that Gate.
  const created = parseTime(gate.metadata.creationTimestamp);
  if (created !== undefined && at < created) return reject('the call is older than the Gate');
  const used = parseUsedCalls(gate.metadata.annotations?.[USED_CALLS], now);
  if (used.some((before) => before.hashes.some((hash) => hashes.includes(hash))))
    return reject('the call was accepted before');
  const lastMinute = used.filter((before) => now - before.at < 60_000);
  if (lastMinute.length >= CALLS_PER_MINUTE) {
    const retryAfterSeconds = Math.max(1, Math.ceil((lastMinute[0]!.at + 60_000 - now) / 1000));
    return { status: 429, reason: `${CALLS_PER_MINUTE} calls in the last minute`, retryAfterSeconds };
  }
  const body = parseCallBody(call.body);
  if ('problem' in body) return reject(body.problem);

  const { action, for: version } = body;
  if (action === 'open' && !openRequestHasEffect(version, gate, gate, now)) {
    return reject('a Gate with spec.approvals cannot be opened by a request');
  }
  const reason = [by, body.reason].filter(Boolean).join(': ');
  const annotations: Record<string, string | null> = {
    [REQUESTED_AT_KEYS[action]]: formatTime(requestTime(gate, action, now)),
    [REASON_KEYS[action]]: reason || null,
    [USED_CALLS]: formatUsedCalls([...used, { at: now, hashes }]),
  };
  // Removes the version of an earlier opening: with it, this request would open the Gate for that version alone.
  if (action === 'open') annotations[OPEN_FOR] = version ?? null;
  return { status: 200, annotations };
}

/** The time to write: now, or a second after the stored one, because an unchanged annotation requests nothing. */
function requestTime(gate: Gate, action: 'open' | 'close', now: EpochMs): EpochMs {
  const last = annotatedRequest(gate, action)?.at;
  const second = Math.floor(now / 1000) * 1000;
  return last !== undefined && last >= second && last < second + CLOCK_TOLERANCE_MS ? last + 1000 : second;
}

// The body of a signed call: `{"action": "open", "reason": "CHG-1", "for": "1.2.0"}`.

interface CallBody {
  action: GateAction;
  reason?: string;
  /** With `open` only: the one tag that may be deployed, or `namespace/rollout:tag`. */
  for?: string;
}

/** The body, parsed. Unknown fields are rejected: a misspelt `for` would open the Gate to every version. */
function parseCallBody(bytes: Uint8Array): CallBody | { problem: string } {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { problem: 'the body is not JSON' };
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { problem: 'the body is not a JSON object' };
  const { action, reason, for: version, ...others } = body as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return { problem: `the body has an unknown field '${unknown}'` };
  if (action !== 'open' && action !== 'close') return { problem: "action is neither 'open' nor 'close'" };
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > LIMITS.gateReason)) {
    return { problem: `reason is not a string of at most ${LIMITS.gateReason} characters` };
  }
  if (version !== undefined && (action !== 'open' || typeof version !== 'string' || !isLegalTarget(version))) {
    return { problem: "for is neither a valid image tag nor <namespace>/<rollout>:<tag>, or the action is not 'open'" };
  }
  return { action, ...(reason && { reason }), ...(version !== undefined && { for: version as string }) };
}

// The calls that a Gate has accepted, stored on the Gate itself so that neither a restart nor another replica accepts
// one twice. The annotation's text: `<unix seconds>:<hash>` joined with `,`, oldest first.

/**
 * The time for which a used call is stored. The timestamp of a signed call may be five minutes ahead or behind, so
 * after ten minutes the call is too old to be accepted. ID tokens expire earlier.
 */
const KEEP_MS = 10 * 60_000 + 1000;
/** The most calls that one Gate accepts in a minute, in all replicas together. */
const CALLS_PER_MINUTE = 10;

interface UsedCall {
  at: EpochMs;
  hashes: string[];
}

/** The used calls, without entries that are not ours or too old. */
function parseUsedCalls(text: string | undefined, now: EpochMs): UsedCall[] {
  return (text ?? '').split(',').flatMap((entry) => {
    const [, seconds, hashes] = /^(\d{1,12}):([0-9a-f.]{16,40})$/.exec(entry) ?? [];
    const at = Number(seconds) * 1000;
    // A call with a time in the future would count towards the last minute for too long.
    const counts = at <= now + CLOCK_TOLERANCE_MS && now - at < KEEP_MS;
    return hashes !== undefined && counts ? [{ at, hashes: hashes.split('.') }] : [];
  });
}

function formatUsedCalls(calls: readonly UsedCall[]): string {
  return calls.map(({ at, hashes }) => `${Math.floor(at / 1000)}:${hashes.join('.')}`).join(',');
}

/**
 * The annotation USED_CALLS to store after a write: no writer can remove a call that still counts.
 * @param text the annotation in a write that makes a request
 */
export function keptCalls(text: string | undefined, oldText: string | undefined, now: EpochMs): string | undefined {
  const all = new Map(
    [...parseUsedCalls(oldText, now), ...parseUsedCalls(text, now)].map((c) => [c.hashes.join('.'), c]),
  );
  if (all.size === 0) return undefined;
  return formatUsedCalls([...all.values()].sort((a, b) => a.at - b.at));
}
