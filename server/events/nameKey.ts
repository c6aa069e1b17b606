/**
 * The secret in the names of Events: a client that can predict a name could take it first. To need no Secret of its
 * own, it is derived from the webhook's private key, or else from the hooks' token. Each replica has these, and no
 * tenant can read them.
 */
import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { type FileLog, watchFiles } from '../fileWatch.ts';

const LABEL = 'rollout-hooks: names of Events';

/**
 * A function that returns the current secret, also after a rotation. Without both files, the secret is predictable.
 * @throws Error if the file cannot be read at the start
 */
export function watchNameKey(
  { tls, hooksToken }: Partial<Pick<Config, 'tls' | 'hooksToken'>>,
  log: FileLog,
): () => Buffer {
  const file = tls?.key ?? hooksToken?.current;
  if (file === undefined) return () => derivedKey('');
  const { current } = watchFiles<Buffer>({
    what: `key of Event names from ${file}`,
    read() {
      const text = readFileSync(file, 'utf8').trim();
      if (text === '') throw new Error(`${file} is empty`);
      return derivedKey(text);
    },
    isSame: (a, b) => a.equals(b),
    log,
  });
  return current;
}

function derivedKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', LABEL, 32));
}
