/**
 * A signed call that opens or closes a Gate from outside.
 *
 * X-Signature: sha256=<hex HMAC of "<X-Timestamp>.<path>.<body>" with the token>; X-Timestamp: seconds since 1970 or RFC 3339;
 * X-Nonce: the caller's own, used once. The path is the Gate's: one Secret may serve several. A call seen before is refused by its signature too, so that whoever captured
 * one cannot send it again under a new nonce.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { OPEN_FOR, USED_CALLS } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { takesOpening } from '../gate/approved.ts';
import { annotated, REASON, REQUESTED_AT } from '../gate/requests.ts';
import { CLOCK_TOLERANCE_MS } from '../gate/timestamp.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { parseCallBody } from './callBody.ts';
import { CALLS_PER_MINUTE, callHashes, formatUsedCalls, parseUsedCalls } from './usedCalls.ts';

/** A call to `POST /hook/<digest>`, as it came. */
export interface SignedCall {
  body: Uint8Array;
  signature?: string | undefined;
  timestamp?: string | undefined;
  nonce?: string | undefined;
}

/** 200 comes with the annotations that carry the request to the Gate (null removes one); the rest with a reason for our log. */
export type CallJudgement =
  | { status: 200; annotations: Record<string, string | null> }
  | { status: 400 | 429; reason: string; retryAfterSeconds?: number };

const TOLERANCE_MS = 5 * 60_000;
const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;
const NONCE = /^[\x21-\x7e]{1,128}$/;

/** Whether the caller has the token and a clock close to ours. The call alone says so: nothing of the Gate is needed. */
export function checkCall(
  token: Uint8Array,
  path: string,
  call: SignedCall,
  now: EpochMs,
): { signature: string; at: EpochMs } | { problem: string } {
  if (token.length === 0) return { problem: 'the token is empty' };
  const signature = SIGNATURE.exec(call.signature ?? '')?.[1]?.toLowerCase();
  if (!signature) return { problem: 'X-Signature is not sha256=<64 hex digits>' };
  const at = callTime(call.timestamp);
  if (at === undefined) return { problem: 'X-Timestamp is neither seconds since 1970 nor RFC 3339' };
  if (!NONCE.test(call.nonce ?? '')) return { problem: 'X-Nonce is not 1 to 128 printable characters' };
  const expected = hmac(sha256, token, concatBytes(utf8ToBytes(`${call.timestamp}.${path}.`), call.body));
  if (!sameText(bytesToHex(expected), signature)) return { problem: 'the signature does not match' };
  // From here on the caller has the token.
  if (Math.abs(now - at) > TOLERANCE_MS) {
    const seconds = Math.round((now - at) / 1000);
    const what = seconds > 0 ? `${seconds} s behind` : `${-seconds} s ahead of`;
    return {
      problem: `X-Timestamp is ${what} our clock, more than ${TOLERANCE_MS / 1000}: the call is old, or a clock is wrong`,
    };
  }
  return { signature, at };
}

export function judgeCall(gate: Gate, token: Uint8Array, path: string, call: SignedCall, now: EpochMs): CallJudgement {
  const refuse = (reason: string): CallJudgement => ({ status: 400, reason });
  const checked = checkCall(token, path, call, now);
  if ('problem' in checked) return refuse(checked.problem);
  const { signature, at } = checked;
  // The calls that an earlier Gate of this name has taken are forgotten with it.
  const created = parseTime(gate.metadata.creationTimestamp);
  if (created !== undefined && at < created) return refuse('X-Timestamp is from before the Gate was created');
  const used = parseUsedCalls(gate.metadata.annotations?.[USED_CALLS], now);
  const hashes = callHashes(call.nonce!, signature);
  if (used.some((before) => before.hashes.some((hash) => hashes.includes(hash))))
    return refuse('the call was used before');
  const lastMinute = used.filter((before) => now - before.at < 60_000);
  if (lastMinute.length >= CALLS_PER_MINUTE) {
    const retryAfterSeconds = Math.max(1, Math.ceil((lastMinute[0]!.at + 60_000 - now) / 1000));
    return { status: 429, reason: `${CALLS_PER_MINUTE} calls in the last minute`, retryAfterSeconds };
  }
  const body = parseCallBody(call.body);
  if ('problem' in body) return refuse(body.problem);

  const { action, reason, for: version } = body;
  if (action === 'open' && !takesOpening(gate, now)) {
    return refuse('the Gate has spec.approvals, and is opened by no request');
  }
  const annotations: Record<string, string | null> = {
    [REQUESTED_AT[action]]: formatTime(requestTime(gate, action, now)),
    [REASON[action]]: reason ?? null,
    [USED_CALLS]: formatUsedCalls([...used, { at: now, hashes }]),
  };
  // The version of an earlier opening must not narrow this one.
  if (action === 'open') annotations[OPEN_FOR] = version ?? null;
  return { status: 200, annotations };
}

/** Now, or a second after the annotation that is there: one that does not change requests nothing. */
function requestTime(gate: Gate, action: 'open' | 'close', now: EpochMs): EpochMs {
  const last = annotated(gate, action)?.at;
  const second = Math.floor(now / 1000) * 1000;
  return last !== undefined && last >= second && last < second + CLOCK_TOLERANCE_MS ? last + 1000 : second;
}

function callTime(text: string | undefined): EpochMs | undefined {
  return /^\d{1,12}$/.test(text ?? '') ? Number(text) * 1000 : parseTime(text);
}

/** In constant time. Both are 64 characters. */
function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
