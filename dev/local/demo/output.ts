/** Tells a output on standard output: steps, what a person would type, what the cluster answered, and when. */
import wrapAnsi from 'wrap-ansi';

export interface DemoOutput {
  /** A heading. */
  heading(text: string): void;
  /** What a person would type to do the same. */
  command(text: string): void;
  say(text: string): void;
  /** Words of the API server. */
  quote(text: string): void;
  /** Something that was seen to be so. */
  seen(text: string): void;
}

export interface Terminal {
  colours: boolean;
  columns: number;
}

/** A line begins with the time: `  0.4 s  `. */
const MARGIN = 9;
const MAX_COLUMNS = 110;

/** What fits the terminal. A pipe gets no colours, nor does anybody who sets NO_COLOR (no-color.org). */
export function terminalOf(out: { isTTY?: boolean; columns?: number }, env: NodeJS.ProcessEnv): Terminal {
  return {
    colours: out.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
    columns: Math.min(out.columns || MAX_COLUMNS, MAX_COLUMNS),
  };
}

export function createOutput(write: (text: string) => void, { colours, columns }: Terminal): DemoOutput {
  const start = performance.now();
  const paint = (code: string, text: string) => (colours ? `\x1b[${code}m${text}\x1b[0m` : text);
  const line = (text: string) => {
    const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(5);
    write(`${paint('2', `${seconds} s`)}  ${text}\n`);
  };
  let chapters = 0;
  return {
    heading(text) {
      chapters++;
      write(`\n${paint('1', `${chapters}. ${text}`)}\n`);
    },
    // In one line, so that it can be copied.
    command: (text) => line(paint('36', `$ ${text}`)),
    say(text) {
      for (const part of wrap(text, columns - MARGIN)) line(part);
    },
    quote(text) {
      for (const part of wrap(text, columns - MARGIN - 4)) line(paint('33', `  │ ${part}`));
    },
    seen(text) {
      for (const [index, part] of wrap(text, columns - MARGIN - 2).entries())
        line(`${index === 0 ? paint('32', '✓') : ' '} ${part}`);
    },
  };
}

const wrap = (text: string, width: number): string[] => wrapAnsi(text.replaceAll(/\s+/g, ' '), width).split('\n');
