/** Lines at the end of the terminal that are drawn again with every change. */
import { widthOf } from './columns.ts';
import { safeLine } from './safe.ts';
import type { Terminal } from './terminal.ts';

const HIDE = '\x1b[?25l';
const SHOW = '\x1b[?25h';
const CLEAR_BELOW = '\x1b[0J';

export function openScreen(
  { write, around }: Pick<Terminal, 'write' | 'around'>,
  size: () => { rows: number; columns: number },
) {
  let drawn = '';
  let last: readonly string[] = [];
  let visible: readonly string[] = [];
  write(HIDE);
  const show = (lines: readonly string[]) => {
    const text = textOf(lines);
    // A line that is wider than the terminal is now takes several rows.
    const { columns } = size();
    const height = visible.reduce((sum, each) => sum + Math.max(1, Math.ceil(widthOf(each) / columns)), 0);
    write(`${height > 0 ? `\x1b[${height}A\r` : ''}${CLEAR_BELOW}${text}`);
    visible = lines;
    drawn = text;
  };
  around((writing) => {
    const before = visible;
    show([]);
    writing();
    show(before);
  });
  return {
    /** Draws the lines that fit in place of the former ones, if they differ. */
    draw(lines: readonly string[]): void {
      last = lines;
      const shown = linesThatFit(lines, size().rows);
      if (textOf(shown) !== drawn) show(shown);
    },
    /** Draws all lines for the last time, and shows the cursor again. */
    close(): void {
      if (last.length > 0) show(last);
      around(undefined);
      write(SHOW);
    },
  };
}

const textOf = (lines: readonly string[]) => lines.map((each) => `${safeLine(each)}\n`).join('');

function linesThatFit(lines: readonly string[], rows: number): readonly string[] {
  const room = Math.max(rows - 1, 5);
  if (lines.length <= room) return lines;
  return [
    ...lines.slice(0, room - 1),
    `… ${lines.length - room + 1} more lines: name one Rollout, or make the terminal higher`,
  ];
}
