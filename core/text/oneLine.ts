/** Text of users: on one line, short, without terminal controls and characters that change the order of letters. */

/**
 * The content of a character class: C0 and C1 controls (ESC, line feed, CSI), U+2028 and U+2029, and the embeddings,
 * overrides and isolates of bidirectional text.
 */
export const UNSAFE = String.raw`\p{Cc}\u2028-\u202e\u2066-\u2069`;
const RUNS = new RegExp(`[${UNSAFE}]+`, 'gu');

/** The text on one line: each run of unsafe characters becomes one space. */
export function oneLine(text: string): string {
  return text.replace(RUNS, ' ');
}

/** The unsafe characters of a text of several lines. */
export const UNSAFE_IN_TEXT = new RegExp(String.raw`(?![\n\t])[${UNSAFE}]`, 'gu');

/** The text with unsafe characters as escapes, which mean the same in JSON, and in YAML between double quotes. */
export function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE_IN_TEXT, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The first `most` characters of the text, with an ellipsis if there are more. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/** The beginning of the value's JSON on one line, for messages. */
export function quotedJson(value: unknown, most: number): string {
  return oneLine(JSON.stringify(value) ?? 'undefined').slice(0, most);
}

/** The text for storage: its first `most` characters, each run of spaces, line breaks and controls as one space. */
export function boundedLine(text: string, most: number): string {
  return text
    .slice(0, most)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}

/** A version or user in a Warning: a Warning is cut at 120 characters. */
export function inWarning(text: string): string {
  return boundedLine(text, 32);
}
