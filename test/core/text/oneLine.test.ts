import fc from 'fast-check';
import { expect, it } from 'vitest';
import { statusAfter } from '../../../core/health/healthStatus.ts';
import { setCondition } from '../../../core/kube/conditions.ts';
import { oneLine } from '../../../core/text/oneLine.ts';
import { anyText } from '../../support/anyText.ts';

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

it('leaves its own result unchanged', () => {
  fc.assert(fc.property(anyText(), (text) => oneLine(oneLine(text)) === oneLine(text)));
});

const FORGED = 'Version 1.1.0\n\nAll gates are passing\u001b[2J\u202e';
const SHOWN = 'Version 1.1.0 All gates are passing [2J ';

it('a condition has one line, and the same one when it is set again', () => {
  const set = (before?: ReturnType<typeof setCondition>) =>
    setCondition(before, { type: 'Ready', status: 'True', reason: 'Ok', message: FORGED }, 0);
  expect(set()[0]?.message).toBe(SHOWN);
  expect(set(set())).toEqual(set());
});

it('a HealthCheck has a message of one line', () => {
  expect(statusAfter(undefined, { health: 'Healthy', message: FORGED }, 0).message).toBe(SHOWN);
});
