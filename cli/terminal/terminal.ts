/** The output of a command: streams, their width, colors. */
import type { Writable } from 'node:stream';
import { EXIT, Problem } from '../../tools/kube/problem.ts';
import { createPaint, safeLine, safeText, type Paint } from './safe.ts';

export interface Terminal {
  /** A line on standard output. What others wrote in it is text, and no more: see safe.ts. */
  print(text: string): void;
  /** A line on standard error, for notes. */
  note(text: string): void;
  /** Several lines on standard output, without colors. */
  printText(text: string): void;
  /** Several lines on standard error, without colors. */
  noteText(text: string): void;
  /** Called around each text that is not `write`, while the last lines of the screen are a picture. */
  around(writing: ((write: () => void) => void) | undefined): void;
  /** Writes to standard output unchanged: no user text. */
  write(text: string): void;
  /** Standard output is a terminal. */
  isTerminal: boolean;
  /** Both ends are: a question can be asked. */
  isInteractive: boolean;
  /** Columns of a terminal; undefined on a pipe: nothing is wrapped there. */
  columns(): number | undefined;
  /** Rows of the terminal. */
  rows(): number;
  paint: Paint;
  /** Symbols beyond ASCII. */
  hasSymbols: boolean;
  /** Asks on standard error and answers what was typed; nothing at the end of the input. @throws Problem on Ctrl-C. */
  ask(question: string): Promise<string>;
}

export interface Streams {
  stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  stderr: Writable & { isTTY?: boolean };
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
}

/** Below that a tree is unreadable; the terminal may wrap itself then. */
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

/** https://no-color.org: any text but none. */
function hasColors({ NO_COLOR, TERM }: Environment): boolean {
  return !NO_COLOR && TERM !== 'dumb';
}

function hasSymbols({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return locale !== 'C' && locale !== 'POSIX';
}
