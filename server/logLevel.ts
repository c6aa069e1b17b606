/**
 * The level of the log, from a file that may change, appear and go at any time, such as a mounted ConfigMap. Without the file, or with
 * an empty one, it is the level of the start.
 */
import { readFileSync } from 'node:fs';
import { watchFiles } from './fileWatch.ts';
import { createLog, isLogLevel, LOG_LEVELS, type Logger, type LogLevel } from './log.ts';

export interface LevelOptions {
  level: LogLevel;
  file?: string | undefined;
  pollMs?: number;
}

/** A log whose level follows the file. */
export function createLeveledLog(options: LevelOptions): Logger {
  const log = createLog(options.level);
  followLevel(log, options);
  return log;
}

/** @returns how to stop it */
export function followLevel(
  log: Pick<Logger, 'info' | 'error'> & { level: string },
  { level, file, pollMs }: LevelOptions,
): () => void {
  if (!file) return () => {};
  const read = (inUse?: LogLevel): LogLevel => {
    const text = textOf(file);
    if (text === '') return level;
    if (isLogLevel(text)) return text;
    // A typing error is no reason not to start; the next look reports it.
    if (inUse === undefined) return level;
    throw new Error(`${file} says ${JSON.stringify(text.slice(0, 40))}, which is none of ${LOG_LEVELS.join(', ')}`);
  };
  const taken = (next: LogLevel) => {
    log.level = next;
  };
  const watched = watchFiles({
    what: 'log level',
    read,
    isSame: (a, b) => a === b,
    taken,
    log,
    ...(pollMs !== undefined && { pollMs }),
  });
  taken(watched.current());
  return watched.stop;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
