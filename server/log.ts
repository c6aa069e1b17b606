/**
 * One line of JSON per message, on standard error, with the keys of Kubernetes' structured logging: `level`, `ts`,
 * `kind`, `namespace`, `name`, `reason`, `msg`. No line contains a request body, which may hold values from Git or a
 * Secret. Long texts are cut. Line breaks, terminal controls and overrides of bidirectional text are escaped.
 */
import { type Logger, pino } from 'pino';
import { escapeUnsafe } from '../core/text/oneLine.ts';
import { readIfThere, watchFiles } from './fileWatch.ts';

export type { Logger };

/** The levels, from the fewest lines to the most. */
export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const MAX_VALUE_CHARACTERS = 1024;
const MAX_STACK_CHARACTERS = 4096;

/** @param file its content replaces `level` while the file exists */
export function createLog(level: LogLevel, file?: string): Logger {
  const log = pino(
    {
      level,
      base: undefined,
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, bounded(value)])),
      },
      hooks: {
        logMethod(args, method) {
          method.apply(this, args.map(bounded) as typeof args);
        },
        // JSON doesn't escape all unsafe characters. A line has them only in its texts.
        streamWrite: escapeUnsafe,
      },
    },
    pino.destination({ fd: 2, sync: false }),
  );
  if (file) followLevel(log, file);
  return log;
}

export function isLogLevel(text: string): text is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(text);
}

function bounded(value: unknown): unknown {
  if (typeof value === 'string') return cut(value, MAX_VALUE_CHARACTERS);
  // Only these fields are logged: others may carry the whole answer of the API server.
  if (value instanceof Error) {
    const stack = cut(value.stack ?? '', MAX_STACK_CHARACTERS);
    return { type: value.name, message: cut(value.message, MAX_VALUE_CHARACTERS), stack };
  }
  return value;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/**
 * Follows the level in a file that may change, appear or disappear at any time, such as a mounted ConfigMap. Without
 * the file, or if it is empty, the level is the one of the start.
 */
function followLevel(log: Logger, file: string): void {
  const first = log.level as LogLevel;
  const read = (inUse?: LogLevel): LogLevel => {
    const text = readIfThere(file)?.toString('utf8').trim() ?? '';
    if (text === '') return first;
    if (isLogLevel(text)) return text;
    // A typo doesn't keep the server from starting; the next poll reports it.
    if (inUse === undefined) return first;
    throw new Error(`${file} has level ${JSON.stringify(text.slice(0, 40))}; expected one of ${LOG_LEVELS.join(', ')}`);
  };
  const apply = (level: LogLevel) => {
    log.level = level;
  };
  apply(watchFiles({ what: 'log level', read, isSame: (a, b) => a === b, onChange: apply, log }).current());
}
