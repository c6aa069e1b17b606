import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryDirectory {
  path: string;
  remove(): void;
  /** It stays when this process ends: for what a log in it says. */
  keep(): void;
}

const all = new Set<string>();

/** A process that was just killed may still write. */
const removeNow = (path: string) => rmSync(path, { recursive: true, force: true, maxRetries: 5 });

const removeAll = () => all.forEach(removeNow);

/** A new directory, which is gone at the latest when this process ends. `prefix`: what its name begins with. */
export function temporaryDirectory(prefix: string): TemporaryDirectory {
  // At the first use: what ends the children at that time has registered before.
  if (!process.listeners('exit').includes(removeAll)) process.once('exit', removeAll);
  const path = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  all.add(path);
  return {
    path,
    remove() {
      removeNow(path);
      all.delete(path);
    },
    keep: () => void all.delete(path),
  };
}

/** Does the work in such a directory. */
export async function inTemporaryDirectory<T>(prefix: string, work: (path: string) => T): Promise<Awaited<T>> {
  const directory = temporaryDirectory(prefix);
  try {
    return await work(directory.path);
  } finally {
    directory.remove();
  }
}
