/** The terminal of a command: its streams, width and colors, and questions to the user. */
import type { Writable } from 'node:stream';
import { EXIT, Problem } from '../../client/problem.ts';
import { createPaint, type Paint, safeLine, safeText } from './safe.ts';

export interface Terminal {
  /** Prints a line on standard output, made safe: see safe.ts. */
  print(text: string): void;
  /** Prints a line on standard error, for notes. */
  note(text: string): void;
  /** Prints lines on standard output, without colors. */
  printText(text: string): void;
  /** Prints lines on standard error, without colors. */
  noteText(text: string): void;
  /** Sets the function that each print calls with its write: a screen takes its lines away meanwhile. */
  around(writing: ((write: () => void) => void) | undefined): void;
  /** Writes to standard output without making the text safe: not for text of users. */
  write(text: string): void;
  /** Whether standard output is a terminal. */
  isTerminal: boolean;
  /** Whether standard input is a terminal too, so that the user can answer questions. */
  isInteractive: boolean;
  /** The columns of the terminal; undefined on a pipe, where nothing is wrapped. */
  columns(): number | undefined;
  rows(): number;
  paint: Paint;
  /** Whether the locale has symbols beyond ASCII. */
  hasSymbols: boolean;
  /** Asks on standard error and returns the typed answer; empty at the end of the input. @throws Problem on Ctrl-C */
  ask(question: string): Promise<string>;
}

export interface Streams {
  stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  stderr: Writable & { isTTY?: boolean };
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
}

/** Fewer columns make a tree unreadable: a narrower terminal wraps the lines itself. */
const MIN_COLUMNS = 40;
const MAX_COLUMNS = 160;

type Environment = Readonly<Record<string, string | undefined>>;

export function createTerminal(streams: Streams, env: Environment, wantsColor: boolean): Terminal {
  const { stdout, stderr, stdin } = streams;
  const isTerminal = stdout.isTTY === true;
  let around = (write: () => void) => write();
  const say = (stream: Writable, text: string) => around(() => void stream.write(`${text}\n`));
  return {
    print: (text) => say(stdout, safeLine(text)),
    note: (text) => say(stderr, safeLine(text)),
    printText: (text) => say(stdout, safeText(text)),
    noteText: (text) => say(stderr, safeText(text)),
    around: (writing) => {
      around = writing ?? ((write) => write());
    },
    write: (text) => stdout.write(text),
    isTerminal,
    isInteractive: isTerminal && stdin.isTTY === true,
    columns: () => (isTerminal ? Math.min(Math.max(stdout.columns ?? 80, MIN_COLUMNS), MAX_COLUMNS) : undefined),
    rows: () => stdout.rows ?? 24,
    paint: createPaint(wantsColor && isTerminal && hasColors(env)),
    hasSymbols: hasSymbols(env),
    async ask(question) {
      const { createInterface } = await import('node:readline/promises');
      const reader = createInterface({ input: stdin, output: stderr });
      const typed = new Promise<string>((resolve, reject) => {
        // During a question the terminal sends Ctrl-C to readline only.
        reader.once('SIGINT', () => reject(new Problem('Nothing was changed.', EXIT.interrupted)));
        reader.once('close', () => resolve(''));
        reader.question(safeLine(question)).then(resolve, reject);
      });
      try {
        return await typed;
      } finally {
        reader.close();
      }
    },
  };
}

/** Whether colors are wanted: any text in NO_COLOR disables them (https://no-color.org). */
function hasColors({ NO_COLOR, TERM }: Environment): boolean {
  return !NO_COLOR && TERM !== 'dumb';
}

function hasSymbols({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return locale !== 'C' && locale !== 'POSIX';
}
