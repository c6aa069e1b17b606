/** Text in columns, by its width on a terminal: wide letters count twice, colors not at all. */
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Line breaks in others' text, which would begin lines of ours. */
const BREAKS = /[\r\n]+/g;

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

/** The lines of a text that fit into `columns`; as it is where there is no limit. */
export function wrapText(text: string, columns: number | undefined): string[] {
  if (columns === undefined) return [text];
  return wrapAnsi(text.replace(BREAKS, ' '), Math.max(columns, 10), { hard: true, trim: true }).split('\n');
}

/** Rows in columns as wide as their widest cell, three spaces between them, no space at the end of a line. Cells that are missing are empty. */
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
