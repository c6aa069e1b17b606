/**
 * Files that may be replaced, such as mounted Secrets: read at the start, then polled. The last good content stays in
 * use.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FileLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface Watched<T> {
  /** The last good content. */
  current(): T;
  stop(): void;
}

interface WatchOptions<T> {
  /** Names the files in the log. */
  what: string;
  /** @param before the content in use @throws Error with a sentence for content that cannot be used */
  read(before?: T): T;
  isSame(a: T, b: T): boolean;
  /** Called for each new content, but not for the first. */
  onChange?(content: T): void;
  log: FileLog;
}

const POLL_MS = 1_000;

/** Reads the files now and polls them. @throws what the first `read` throws */
export function watchFiles<T>({ what, read, isSame, onChange, log }: WatchOptions<T>): Watched<T> {
  let current = read();
  let problem: string | undefined;
  const poll = () => {
    try {
      const content = read(current);
      problem = undefined;
      if (isSame(content, current)) return;
      onChange?.(content);
      current = content;
      log.info({ what }, 'reloaded');
    } catch (error) {
      const { message } = error as Error;
      if (message !== problem)
        log.error({ what, problem: message }, 'the last good content stays in use, trying again');
      problem = message;
    }
  };
  const timer = setInterval(poll, POLL_MS);
  timer.unref();
  return { current: () => current, stop: () => clearInterval(timer) };
}

/** Paths of files with a secret. */
export interface SecretFiles {
  current: string;
  /** The previous secret, for the time of a rotation. The file may be missing. */
  previous?: string;
}

interface SecretOptions extends Pick<WatchOptions<unknown>, 'what' | 'log'> {
  /** Why a text is no secret, as the end of a sentence about its file. */
  problemOf(text: string): string | undefined;
  onChange?: (() => void) | undefined;
}

/** The SHA-256 of each secret, without spaces at its ends: the current one first, then the previous one, if any. */
export function watchSecrets({ current, previous }: SecretFiles, { problemOf, onChange, ...rest }: SecretOptions) {
  const hashOf = (file: string, text: string) => {
    const problem = problemOf(text);
    if (problem !== undefined) throw new Error(`${file} ${problem}`);
    return createHash('sha256').update(text).digest();
  };
  return watchFiles<readonly Buffer[]>({
    ...rest,
    read() {
      const before = previous && readIfThere(previous)?.toString('utf8').trim();
      const now = hashOf(current, readFileSync(current, 'utf8').trim());
      return before ? [now, hashOf(previous, before)] : [now];
    },
    isSame: (a, b) => Buffer.concat(a).equals(Buffer.concat(b)),
    ...(onChange && { onChange }),
  });
}

/** The content; undefined if there is no such file. */
export function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The `data` of a Secret that the kubelet has mounted, with a file for each key: values in base64. */
export function mountedData(folder: string, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const content = readIfThere(join(folder, key));
      return content ? [[key, content.toString('base64')]] : [];
    }),
  );
}
