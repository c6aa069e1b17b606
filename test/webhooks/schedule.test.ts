import { describe, expect, it } from 'vitest';
import { validateSchedule } from '../../webhooks/otherKinds.ts';
import { objectOf } from '../support/objects.ts';
import { write } from './gate/call.ts';

const at = '2025-01-01T00:00:00Z';
const object = (spec: object) => objectOf('RolloutSchedule', 'prod/s', { spec: spec as never });
const good = { rolloutSelector: {}, rules: [{ timeRange: { start: '09:00', end: '17:00' } }] };

describe('RolloutSchedules', () => {
  it('a good one is allowed', async () => {
    expect(await write(validateSchedule, { object: object(good), at })).toMatchObject({
      allowed: true,
      warnings: [],
    });
  });

  it.each([
    [
      'unknown time zone',
      { ...good, timezone: 'Europe/Berlinn' },
      'spec.timezone: Invalid value: "Europe/Berlinn": unknown time zone; expected an IANA name such as Europe/Berlin',
    ],
    [
      'namespace selector',
      { ...good, namespaceSelector: { matchLabels: { 'a b': 'c' } } },
      'spec.namespaceSelector.matchLabels: Invalid value: "a b": is not a label key',
    ],
  ])('%s: denied with field and reason', async (_name, spec, message) => {
    expect(await write(validateSchedule, { object: object(spec), at })).toMatchObject({
      allowed: false,
      message: `RolloutSchedule 'prod/s' is not valid: ${message}`,
    });
  });

  it('an earlier invalid value does not block other changes', async () => {
    const old = object({ ...good, timezone: 'Mars/Olympus' });
    expect(
      (await write(validateSchedule, { old, object: { ...old, spec: { ...old.spec, action: 'Allow' } }, at })).allowed,
    ).toBe(true);
  });

  it.each([
    [
      { dateRange: { start: '2025-12-26', end: '2025-12-24' } },
      'rules[0].dateRange ends before it starts: the rule is never active',
    ],
    [
      { timeRange: { start: '09:00', end: '09:00' } },
      'rules[0].timeRange starts and ends at 09:00: the window lasts the whole day',
    ],
  ])('%j: allowed with a warning', async (rule, warning) => {
    expect(await write(validateSchedule, { object: object({ ...good, rules: [rule] }), at })).toMatchObject({
      allowed: true,
      warnings: [warning],
    });
  });
});
