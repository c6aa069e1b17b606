/** Reads files of any size by line. */
import { createReadStream } from 'node:fs';

/** The lines of a file. An incomplete last line is left out. node:readline would split JSON strings at U+2028. */
export async function* linesOf(file: string, start = 0): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8', start })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
