/** Where a Gate takes calls. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { NamespacedName } from '../../api/kubernetes.ts';

/** Of signed calls. Made as Flux makes a Receiver's path: hex(sha256(token + name + namespace)). */
export function webhookPath(token: Uint8Array, { namespace, name }: NamespacedName): string {
  return `/hook/${bytesToHex(sha256(concatBytes(token, utf8ToBytes(name + namespace))))}`;
}

/** Of calls with an ID token. It is no secret. */
export function idTokenPath({ namespace, name }: NamespacedName): string {
  return `/hook/${namespace}/${name}`;
}
