/**
 * The secret in the names of Events: a client that can predict a name can use it first.
 * It is derived from what every replica has and no tenant can read, so that there is no Secret more: the webhook's
 * private key, or else the token of the hooks.
 */
import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { type FileLog, watchFiles } from '../fileWatch.ts';

const LABEL = 'rollout-hooks: names of Events';

/**
 * Follows a rotation.
 * If neither is configured names can be foretold. @throws Error if the file cannot be read at the start.
 */
export function watchNameKey(
  { tls, hooksToken }: Partial<Pick<Config, 'tls' | 'hooksToken'>>,
  log: FileLog,
): () => Buffer {
  const file = tls?.key ?? hooksToken?.token;
  if (file === undefined) return () => derived('');
  const { current } = watchFiles<Buffer>({
    what: `key of Event names from ${file}`,
    read() {
      const text = readFileSync(file, 'utf8').trim();
      if (text === '') throw new Error(`${file} is empty`);
      return derived(text);
    },
    isSame: (a, b) => a.equals(b),
    log,
  });
  return current;
}

function derived(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', LABEL, 32));
}
