/** Where a Gate takes signed calls. Made as Flux makes a Receiver's path: hex(sha256(token + name + namespace)). */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { NamespacedName } from '../../api/kubernetes.ts';

export function webhookPath(token: Uint8Array, { namespace, name }: NamespacedName): string {
  return `/hook/${bytesToHex(sha256(concatBytes(token, utf8ToBytes(name + namespace))))}`;
}
