import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface TemporaryDirectory {
  path: string;
  remove(): void;
  /** Keeps the directory, for its logs, when this process ends. */
  keep(): void;
}

const all = new Set<string>();

/** A process that was just killed may still write. */
const removeNow = (path: string) => rmSync(path, { recursive: true, force: true, maxRetries: 5 });

const removeAll = () => all.forEach(removeNow);

/** A new directory, removed at the latest when this process ends. Its name begins with `prefix`. */
export function temporaryDirectory(prefix: string): TemporaryDirectory {
  // Registered at the first use, after the listener that ends the children.
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

export async function inTemporaryDirectory<T>(prefix: string, work: (path: string) => T): Promise<Awaited<T>> {
  const directory = temporaryDirectory(prefix);
  try {
    return await work(directory.path);
  } finally {
    directory.remove();
  }
}
