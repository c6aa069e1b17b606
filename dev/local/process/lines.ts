/** The lines of a file, however large, one after the other. */
import { createReadStream } from 'node:fs';

/** node:readline would end a line at U+2028 too, which JSON has in strings. A last line without an end is left out: it is being written. */
export async function* linesOf(file: string, start = 0): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8', start })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
