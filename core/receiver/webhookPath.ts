/** Where a Gate takes calls. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { NamespacedName } from '../../api/kubernetes.ts';

/** The path of signed calls, made as Flux makes a Receiver's path: hex(sha256(token + name + namespace)). */
export function webhookPath(token: Uint8Array, { namespace, name }: NamespacedName): string {
  return `/hook/${bytesToHex(sha256(concatBytes(token, utf8ToBytes(name + namespace))))}`;
}

/** The path of calls with an ID token. It is no secret. */
export function idTokenPath({ namespace, name }: NamespacedName): string {
  return `/hook/${namespace}/${name}`;
}

// The token in a Secret, as its bytes: it need not be text.

/** Empty for what is missing or is not base64. */
export function tokenBytes(data: string | undefined): Uint8Array {
  try {
    return Uint8Array.from(atob(data ?? ''), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
