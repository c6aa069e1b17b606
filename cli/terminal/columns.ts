/** Text in columns, by its width on a terminal, where wide letters count twice and colors don't count. */
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Line breaks, which in the text of other users would start a new line. */
const BREAKS = /[\r\n]+/g;

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

/** The text as lines of at most `columns`; one unchanged line without a limit. */
export function wrapText(text: string, columns: number | undefined): string[] {
  if (columns === undefined) return [text];
  return wrapAnsi(text.replace(BREAKS, ' '), Math.max(columns, 10), { hard: true, trim: true }).split('\n');
}

/** The rows as lines. Columns are as wide as their widest cell, with three spaces between them. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, stringWidth(cell));
    });
  }
  return rows.map((row) =>
    row
      .map((cell, index) => padEnd(cell, widths[index] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}

export const widthOf = stringWidth;
