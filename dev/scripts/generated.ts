/** Paths below the root of this repository, and their texts; of a page, the text below its mark. */
export type Generated = readonly (readonly [path: string, text: string])[];

/** A Markdown table. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const separator = `|${'---|'.repeat(columns.length)}`;
  return [line(columns).replaceAll('  ', ' '), separator, ...rows.map(line)].join('\n');
}

export const code = (text: string): string => `\`${text}\``;
export const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
