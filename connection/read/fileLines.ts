/** Reads the lines of a file. node:readline would split JSON strings at U+2028. */
import { createReadStream } from 'node:fs';

interface ReadOptions {
  /** The first byte to read. */
  start?: number;
  /** Whether to leave out a last line without a line feed, which a program is still writing. */
  isBeingWritten?: boolean;
}

export async function* fileLines(
  file: string,
  { start = 0, isBeingWritten = false }: ReadOptions = {},
): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8', start })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  if (!isBeingWritten) yield rest;
}
