import { expect, it } from 'vitest';
import { warningsOf } from '../../../dev/client/send.ts';

it.each<[string | string[] | undefined, string[]]>([
  [undefined, []],
  ['299 - "one"', ['one']],
  [
    ['299 - "one"', '299 - "two"'],
    ['one', 'two'],
  ],
  ['299 - "one", 299 - "two, with a comma"', ['one', 'two, with a comma']],
  ['299 - "a \\"quoted\\" \\\\ word"', ['a "quoted" \\ word']],
])('%j: %j', (headers, warnings) => {
  expect(warningsOf(headers)).toEqual(warnings);
});
