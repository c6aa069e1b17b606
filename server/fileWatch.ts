/**
 * Files that may be replaced, such as mounted Secrets: read at the start, then polled. The last good content stays in
 * use.
 */
import { readFileSync } from 'node:fs';

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
  pollMs?: number;
}

const POLL_MS = 1_000;

/** Reads the files now and polls them. @throws what the first `read` throws */
export function watchFiles<T>({ what, read, isSame, onChange, log, pollMs = POLL_MS }: WatchOptions<T>): Watched<T> {
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
  const timer = setInterval(poll, pollMs);
  timer.unref();
  return { current: () => current, stop: () => clearInterval(timer) };
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
