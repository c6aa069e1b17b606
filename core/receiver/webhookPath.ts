/** The paths at which a Gate takes calls, and the token of signed calls. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { NamespacedName } from '../../api/kubernetes.ts';

/** The path of signed calls, as Flux makes a Receiver's path: hex(sha256(token + name + namespace)). */
export function webhookPath(token: Uint8Array, { namespace, name }: NamespacedName): string {
  return `/hook/${bytesToHex(sha256(concatBytes(token, utf8ToBytes(name + namespace))))}`;
}

/** The path of calls with an ID token, which is no secret. */
export function idTokenPath({ namespace, name }: NamespacedName): string {
  return `/hook/${namespace}/${name}`;
}

/** The token in a Secret, as bytes, because it need not be text; empty if it is missing or not base64. */
export function tokenBytes(data: string | undefined): Uint8Array {
  try {
    return Uint8Array.from(atob(data ?? ''), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
