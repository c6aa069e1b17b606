/**
 * A signed call that opens or closes a Gate from outside.
 *
 * X-Signature: sha256=<hex HMAC of "<X-Timestamp>.<path>.<body>" with the token>; X-Timestamp: seconds since 1970 or
 * RFC 3339; X-Nonce: chosen by the caller, used once. The path is signed too, because one Secret may serve several
 * Gates. A repeated call is rejected by its signature too, so that a captured call cannot be sent again with a new
 * nonce.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { shortHash } from '../kube/names.ts';
import { parseTime } from '../kube/time.ts';
import { acceptCall, type CallDecision } from './acceptCall.ts';

/** A call to `POST /hook/<digest>`, not checked yet. */
export interface SignedCall {
  body: Uint8Array;
  signature?: string | undefined;
  timestamp?: string | undefined;
  nonce?: string | undefined;
}

/** The path of signed calls, as Flux makes a Receiver's path: hex(sha256(token + name + namespace)). */
export function webhookPath(token: Uint8Array, { namespace, name }: NamespacedName): string {
  return `/hook/${bytesToHex(sha256(concatBytes(token, utf8ToBytes(name + namespace))))}`;
}

/** The token in a Secret, as bytes, because it need not be text; empty if it is missing or not base64. */
export function tokenBytes(data: string | undefined): Uint8Array {
  try {
    return Uint8Array.from(atob(data ?? ''), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

const TOLERANCE_MS = 5 * 60_000;
const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;
const NONCE = /^[\x21-\x7e]{1,128}$/;

/** Checks that the caller has the token, and a clock close to ours. */
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
      problem: `X-Timestamp is ${what} the server's clock (at most ${TOLERANCE_MS / 1000} s): the call is old, or a clock is wrong`,
    };
  }
  return { signature, at };
}

export function decideCall(gate: Gate, token: Uint8Array, path: string, call: SignedCall, now: EpochMs): CallDecision {
  const checked = checkCall(token, path, call, now);
  if ('problem' in checked) return { status: 400, reason: checked.problem };
  const { signature, at } = checked;
  // The signature does not cover the nonce, so both must be new.
  const hashes = [shortHash(`nonce ${call.nonce}`), shortHash(`signature ${signature}`)];
  return acceptCall(gate, { at, hashes, body: call.body }, now);
}

function callTime(text: string | undefined): EpochMs | undefined {
  return /^\d{1,12}$/.test(text ?? '') ? Number(text) * 1000 : parseTime(text);
}

/** Whether two texts of 64 characters are equal, in constant time. */
function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
