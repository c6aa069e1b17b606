import { expect, it } from 'vitest';
import { warningsOf } from '../../../dev/local/warnings.ts';

it.each([
  [['Content-Type', 'application/json'], []],
  [['Warning', '299 - "one"'], ['one']],
  [
    ['Warning', '299 - "one"', 'warning', '299 - "two"'],
    ['one', 'two'],
  ],
  [
    ['Warning', '299 - "one", 299 - "two, with a comma"'],
    ['one', 'two, with a comma'],
  ],
  [['Warning', '299 - "a \\"quoted\\" \\\\ word"'], ['a "quoted" \\ word']],
])('%j: %j', (rawHeaders, warnings) => {
  expect(warningsOf(rawHeaders)).toEqual(warnings);
});
