/**
 * A signed call that opens or closes a Gate from outside.
 *
 * X-Signature: sha256=<hex HMAC of "<X-Timestamp>.<body>" with the token>; X-Timestamp: seconds since 1970 or RFC 3339;
 * X-Nonce: the caller's own, used once. A call seen before is refused by its signature too, so that whoever captured
 * one cannot send it again under a new nonce.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { OPEN_FOR, USED_CALLS } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { CallJudgement, SignedCall } from '../../api/ports.ts';
import type { Gate } from '../../api/types.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { parseCallBody } from './callBody.ts';
import { annotated, REASON, REQUESTED_AT } from './requests.ts';
import { CLOCK_TOLERANCE_MS } from './timestamp.ts';
import { CALLS_PER_MINUTE, callHashes, formatUsedCalls, parseUsedCalls } from './usedCalls.ts';

const TOLERANCE_MS = 5 * 60_000;
const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;
const NONCE = /^[\x21-\x7e]{1,128}$/;

export function judgeCall(gate: Gate, token: string, call: SignedCall, now: EpochMs): CallJudgement {
  const refuse = (reason: string): CallJudgement => ({ status: 400, reason });
  const signature = SIGNATURE.exec(call.signature ?? '')?.[1]?.toLowerCase();
  if (!signature) return refuse('X-Signature is not sha256=<64 hex digits>');
  const at = callTime(call.timestamp);
  if (at === undefined) return refuse('X-Timestamp is neither seconds since 1970 nor RFC 3339');
  if (!NONCE.test(call.nonce ?? '')) return refuse('X-Nonce is not 1 to 128 printable characters');
  const expected = hmac(sha256, utf8ToBytes(token), concatBytes(utf8ToBytes(`${call.timestamp}.`), call.body));
  if (!sameText(bytesToHex(expected), signature)) return refuse('the signature does not match');
  // From here on the caller has the token.
  if (Math.abs(now - at) > TOLERANCE_MS) return refuse(`X-Timestamp is ${Math.round((now - at) / 1000)} s off`);
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
  const annotations: Record<string, string | null> = {
    [REQUESTED_AT[action]]: formatTime(requestTime(gate, action, now)),
    [REASON[action]]: reason ?? null,
    [USED_CALLS]: formatUsedCalls([...used, { at: now, hashes }]),
  };
  // The version of an earlier opening must not narrow this one.
  if (action === 'open') annotations[OPEN_FOR] = version ?? null;
  return { status: 200, annotations };
}

/** Now, or a second after the annotation that is there: one that does not change is no request. */
function requestTime(gate: Gate, action: 'open' | 'close', now: EpochMs): EpochMs {
  const last = annotated(gate, action)?.at;
  const second = Math.floor(now / 1000) * 1000;
  return last !== undefined && last >= second && last < second + CLOCK_TOLERANCE_MS ? last + 1000 : second;
}

function callTime(text: string | undefined): EpochMs | undefined {
  return /^\d{1,12}$/.test(text ?? '') ? Number(text) * 1000 : parseTime(text);
}

/** In a time that does not tell where they differ. Both are 64 characters. */
function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
