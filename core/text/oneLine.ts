/**
 * User text, before it is shown: terminal controls, line breaks and characters that change the order
 * of letters are removed.
 */

/**
 * A character class: C0 and C1 controls (ESC, line feed, CSI), U+2028 and U+2029, and the embeddings, overrides and
 * isolates of bidirectional text.
 */
export const UNSAFE = String.raw`\p{Cc}\u2028-\u202e\u2066-\u2069`;
const RUNS = new RegExp(`[${UNSAFE}]+`, 'gu');

/** The text on one line: each run of unsafe characters becomes one space. */
export function oneLine(text: string): string {
  return text.replace(RUNS, ' ');
}

/**
 * User text, before it is stored: the first `most` characters, without invisible ones, each run of spaces and line
 * breaks as one space.
 */
export function boundedLine(text: string, most: number): string {
  return text
    .slice(0, most)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}
