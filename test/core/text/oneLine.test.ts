import fc from 'fast-check';
import { expect, it } from 'vitest';
import { oneLine } from '../../../core/text/oneLine.ts';

const BAD = [
  '\0',
  '\t',
  '\n',
  '\r\n',
  '\u001b',
  '\u007f',
  '\u0085',
  '\u009b',
  '\u2028',
  '\u2029',
  '\u202a',
  '\u202e',
  '\u2066',
  '\u2069',
];

it.each(BAD)('%j becomes a space', (text) => {
  expect(oneLine(`a${text}${text}b`)).toBe('a b');
});

it.each(['', 'a  b', 'é, 日本, 👩‍🚀, עברית', '•', '\u200b'])('%j stays', (text) => {
  expect(oneLine(text)).toBe(text);
});

it('says the same of its own answer', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => oneLine(oneLine(text)) === oneLine(text)));
});
