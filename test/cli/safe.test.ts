/** Text of others moves no cursor, starts no line and has no colour on the reader's terminal. */
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { table, wrapText } from '../../cli/terminal/columns.ts';
import { openScreen } from '../../cli/terminal/screen.ts';
import { createTerminal } from '../../cli/terminal/terminal.ts';
import { structuredText } from '../../connection/kube/objectText.ts';
import { anyText } from '../support/anyText.ts';

const UNSAFE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;
const EVIL = '1.1.0\u001b[2J\u001b]52;c;aWQ=\u0007\n\nAll gates are passing\r\u009b31mred\u202e\u2028\u001b[31mred';

function terminal() {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()].map((stream) =>
    Object.assign(stream, { isTTY: true }),
  );
  const made = createTerminal(
    { stdout: stdout!, stderr: stderr!, stdin: Object.assign(new PassThrough(), { isTTY: true }) },
    {},
    true,
  );
  return { ...made, out: () => String(stdout!.read() ?? ''), err: () => String(stderr!.read() ?? '') };
}

describe('a line', () => {
  it.each(['print', 'note'] as const)('that %s shows has our colors and nothing else', (how) => {
    const { paint, out, err, [how]: show } = terminal();
    show(`${paint.green('good')} ${EVIL} ${paint.bold(EVIL)}`);
    const text = how === 'print' ? out() : err();
    expect(text.startsWith('\u001b[32mgood\u001b[39m 1.1.0 [2J')).toBe(true);
    const ours = text
      .replaceAll('\u001b[32m', '')
      .replaceAll('\u001b[39m', '')
      .replaceAll('\u001b[1m', '')
      .replaceAll('\u001b[22m', '');
    expect(ours.slice(0, -1)).not.toMatch(UNSAFE);
    expect(text.endsWith('\n')).toBe(true);
  });

  it('of any text has one line feed, its own', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const { print, out } = terminal();
        print(text);
        expect(out().slice(0, -1)).not.toMatch(UNSAFE);
      }),
    );
  });

  it('has no colours from texts of others', () => {
    const { print, out } = terminal();
    print('\u001b[1234;1234;1234;1234;32zgreen \u001b[32mgreen');
    expect(out()).toBe(' [1234;1234;1234;1234;32zgreen  [32mgreen\n');
  });

  it('that is wrapped begins where we begin one', () => {
    expect(wrapText('waits\nAll gates are passing', 80)).toEqual(['waits All gates are passing']);
  });

  it('keeps its columns next to a colour', () => {
    const { paint, print, out } = terminal();
    for (const row of table([
      [paint.green('a'), 'b'],
      ['long', 'c'],
    ]))
      print(row);
    expect(out()).toBe('\u001b[32ma\u001b[39m      b\nlong   c\n');
  });

  it('on a screen that is drawn again is no different', () => {
    const { write, out } = terminal();
    openScreen({ write, around: () => {} }, () => ({ rows: 24, columns: 80 })).draw([EVIL]);
    expect(out().replace('\u001b[?25l', '').replace('\u001b[0J', '').slice(0, -1)).not.toMatch(UNSAFE);
  });
});

it('a text of several lines has no other control character', () => {
  const { noteText, err } = terminal();
  noteText(`It could be:\n\ta ${EVIL}`);
  expect(err().replaceAll(/[\n\t]/g, '')).not.toMatch(UNSAFE);
});

describe.each(['json', 'yaml'] as const)('-o %s', (format) => {
  it('has every value as it is, and no character that a terminal obeys', async () => {
    const texts = anyText();
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.constant(EVIL), texts), texts, async (a, b) => {
        const value = { [`key${b}`]: a, list: [a, b, `${b}\n`] };
        const text = await structuredText(value, format);
        expect(text.replaceAll(/[\n\t]/g, '')).not.toMatch(UNSAFE);
        expect(format === 'json' ? JSON.parse(text) : parse(`${text}\n`)).toEqual(value);
      }),
      { examples: [[EVIL, ' ']] },
    );
  });
});
