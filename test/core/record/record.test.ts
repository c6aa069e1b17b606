/** Common rules of the webhook's records: user, time and reason, and other text counts as none. */
import { describe, expect, it } from 'vitest';
import { changedByOf, newChange, parseRecord, storedEntry } from '../../../core/record/record.ts';

const AT = Date.parse('2026-03-01T12:00:00Z');

describe('a signature', () => {
  it('is read as it was stored', () => {
    const signature = newChange('alice', 'tested', AT + 400);
    expect(signature).toEqual({ by: 'alice', at: AT, reason: 'tested' });
    expect(changedByOf(storedEntry(signature))).toEqual(signature);
  });

  it('has the beginning of the name as it is, and the reason as one line without invisible characters', () => {
    const name = `a\u200bli\nce${'e'.repeat(300)}`;
    const { by, reason } = newChange(name, ' two\n\u202elines ', AT);
    expect(by).toBe(name.slice(0, 256));
    expect(reason).toBe('two lines');
    expect(newChange('alice', '\u200b', AT)).toEqual({ by: 'alice', at: AT });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['no user', { at: '2026-03-01T12:00:00Z' }],
    ['a user that is no text', { by: 1, at: '2026-03-01T12:00:00Z' }],
    ['no time', { by: 'alice' }],
    ['a time that is none', { by: 'alice', at: 'noon' }],
  ])('is not in %s', (_, entry) => {
    expect(changedByOf(entry)).toBeUndefined();
  });
});

it('text that is no JSON, or too long, is no record', () => {
  const ofLength = (characters: number) => JSON.stringify('x'.repeat(characters - 2));
  expect(parseRecord(ofLength(196_608))).toHaveLength(196_606);
  expect(parseRecord(ofLength(196_609))).toBeUndefined();
  expect(parseRecord('[')).toBeUndefined();
  expect(parseRecord(undefined)).toBeUndefined();
});
