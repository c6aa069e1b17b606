/** Output of the demo: headings, equivalent commands, answers of the cluster and results, with times. */
import wrapAnsi from 'wrap-ansi';

export interface DemoOutput {
  /** A heading. */
  heading(text: string): void;
  /** The equivalent command. */
  command(text: string): void;
  explain(text: string): void;
  /** Text from the API server. */
  quote(text: string): void;
  /** A result that was observed. */
  seen(text: string): void;
}

interface Terminal {
  colours: boolean;
  columns: number;
}

/** Width of the time at the beginning of a line: `  0.4 s  `. */
const MARGIN = 9;
const MAX_COLUMNS = 110;

/** Colours and width of the terminal. No colours in a pipe, or with NO_COLOR (no-color.org). */
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
  let headings = 0;
  return {
    heading(text) {
      headings++;
      write(`\n${paint('1', `${headings}. ${text}`)}\n`);
    },
    // In one line, so that it can be copied.
    command: (text) => line(paint('36', `$ ${text}`)),
    explain(text) {
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
