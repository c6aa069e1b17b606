/**
 * Makes text safe for the terminal, as the last step before output: text of other users can't move the cursor, change
 * colors, fill the clipboard, start a line or turn letters around. Only our own colors pass: they have a random number
 * of this process in them, which no other user can read.
 */
import { randomInt } from 'node:crypto';
import { UNSAFE, UNSAFE_IN_TEXT } from '../../core/text/oneLine.ts';

const PROCESS_MARK = Array.from({ length: 4 }, () => randomInt(1000, 10_000)).join(';');

const MARK_OR_UNSAFE = new RegExp(String.raw`\u001b\[${PROCESS_MARK};(\d+)z|[${UNSAFE}]`, 'gu');

/** The mark that begins or ends a color, which no terminal interprets. `safeLine` replaces it with the real one. */
const mark = (code: number) => `\x1b[${PROCESS_MARK};${code}z`;
const between = (begin: number, end: number) => (text: string) => `${mark(begin)}${text}${mark(end)}`;
const unchanged = (text: string) => text;

/** Functions that color a text; without colors they return it unchanged. */
export type Paint = ReturnType<typeof createPaint>;

export function createPaint(hasColors: boolean) {
  const of = (begin: number, end: number) => (hasColors ? between(begin, end) : unchanged);
  return { bold: of(1, 22), dim: of(2, 22), red: of(31, 39), green: of(32, 39), yellow: of(33, 39) };
}

/** The text as one safe line, with our colors. */
export function safeLine(text: string): string {
  return text.replace(MARK_OR_UNSAFE, (_, code: string | undefined) => (code === undefined ? ' ' : `\x1b[${code}m`));
}

/** The text as safe lines, without colors. */
export function safeText(text: string): string {
  return text.replace(UNSAFE_IN_TEXT, ' ');
}
