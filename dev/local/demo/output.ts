/** Output of the demo: headings, equivalent commands, answers of the cluster and results, with times. */
import { styleText } from 'node:util';
import wrapAnsi from 'wrap-ansi';

/** Width of the time at the beginning of a line: `  0.4 s  `. */
const MARGIN = 9;
const COLUMNS = Math.min(process.stdout.columns || 110, 110) - MARGIN;

export function createOutput(write: (text: string) => void) {
  const start = performance.now();
  const line = (text: string) => {
    const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(5);
    write(`${styleText('dim', `${seconds} s`)}  ${text}\n`);
  };
  const wrap = (text: string, indent: number) => wrapAnsi(text.replaceAll(/\s+/g, ' '), COLUMNS - indent).split('\n');
  let headings = 0;
  return {
    heading: (text: string) => write(`\n${styleText('bold', `${++headings}. ${text}`)}\n`),
    /** The equivalent command, in one line, so that it can be copied. */
    command: (text: string) => line(styleText('cyan', `$ ${text}`)),
    explain: (text: string) => wrap(text, 0).forEach(line),
    /** Text from the API server. */
    quote(text: string) {
      // A command, which is indented, stays in one line, so that it can be copied.
      const parts = text.split('\n').flatMap((each) => (each.startsWith('  ') ? [each] : wrap(each, 4)));
      for (const part of parts) line(styleText('yellow', `  │ ${part}`));
    },
    /** A result that was observed. */
    seen(text: string) {
      for (const [index, part] of wrap(text, 2).entries())
        line(`${index === 0 ? styleText('green', '✓') : ' '} ${part}`);
    },
  };
}

export type DemoOutput = ReturnType<typeof createOutput>;
