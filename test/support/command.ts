/** Runs the command in this process. Resolves to both streams and the exit code. */
import { PassThrough, Writable } from 'node:stream';
import { run } from '../../cli/runCommand.ts';

export interface Called {
  code: number;
  out: string;
  err: string;
}

export interface RelatedObjects {
  env?: Record<string, string>;
  /** Columns of a terminal; without them the command writes to a pipe. */
  columns?: number;
  now?: () => number;
  program?: string;
  signal?: AbortSignal;
  /** Text typed on the terminal. */
  answers?: string;
  /** Gets standard output as it is written. */
  onOutput?: (all: string) => void;
  /** Likewise, standard error. */
  onNote?: (all: string) => void;
}

class Sink extends Writable {
  text = '';
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows = 50;
  readonly #seen: (all: string) => void;

  constructor(columns: number | undefined, seen: (all: string) => void = () => {}) {
    super();
    this.isTTY = columns !== undefined;
    this.columns = columns ?? 80;
    this.#seen = seen;
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString();
    this.#seen(this.text);
    done();
  }
}

/** `line`: the words after the program's name, separated by spaces. */
export async function call(line: string | readonly string[], around: RelatedObjects = {}): Promise<Called> {
  const { env = {}, columns, now = Date.now, program = 'kubectl rollouts', signal, answers } = around;
  const [stdout, stderr] = [new Sink(columns, around.onOutput), new Sink(columns, around.onNote)];
  const code = await run({
    args: typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line,
    env: { HOME: '/nonexistent', NO_COLOR: '1', LANG: 'C.UTF-8', ...env },
    program,
    version: '0.0.0',
    now,
    timeZone: 'UTC',
    signal: signal ?? new AbortController().signal,
    stdout,
    stderr,
    stdin: typed(answers),
  });
  return { code, out: stdout.text, err: stderr.text };
}

function typed(answers: string | undefined): PassThrough & { isTTY?: boolean } {
  const stdin: PassThrough & { isTTY?: boolean } = new PassThrough();
  if (answers === undefined) return stdin;
  stdin.isTTY = true;
  stdin.write(answers);
  return stdin;
}
