/**
 * What reaches the terminal. All text passes here last: of what others wrote, nothing moves the cursor, changes colors, fills the
 * clipboard, begins a line or turns letters around. Colors of our own go through, since nobody else can write them: until then
 * each has a number in it that this process made up.
 */
import { randomInt } from 'node:crypto';
import { UNSAFE } from '../../core/text/oneLine.ts';
import { UNSAFE_IN_TEXT } from '../../tools/kube/objectText.ts';

const PROCESS_MARK = Array.from({ length: 4 }, () => randomInt(1000, 10_000)).join(';');

const IN_A_LINE = new RegExp(String.raw`\u001b\[${PROCESS_MARK};(\d+)z|[${UNSAFE}]`, 'gu');

/**
 * The mark that begins or ends a color: an escape sequence that no terminal interprets. `line` replaces it with the
 * real one.
 */
const mark = (code: number) => `\x1b[${PROCESS_MARK};${code}z`;
const between = (begin: number, end: number) => (text: string) => `${mark(begin)}${text}${mark(end)}`;
const asItIs = (text: string) => text;

/** Colors and weights; each returns its text as it is where there are no colors. */
export type Paint = ReturnType<typeof createPaint>;

export function createPaint(hasColors: boolean) {
  const of = (begin: number, end: number) => (hasColors ? between(begin, end) : asItIs);
  return { bold: of(1, 22), dim: of(2, 22), red: of(31, 39), green: of(32, 39), yellow: of(33, 39) };
}

/** One line, with our colors. */
export function safeLine(text: string): string {
  return text.replace(IN_A_LINE, (_, code: string | undefined) => (code === undefined ? ' ' : `\x1b[${code}m`));
}

/** Several lines without colors: help, a file. */
export function safeText(text: string): string {
  return text.replace(UNSAFE_IN_TEXT, ' ');
}
