import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Gate } from '../../../api/types.ts';
import { mutateGate, validateGate } from '../../../webhooks/gate/gateAdmission.ts';
import { evaluated, expectedOf, gate } from '../../core/gate/gate.ts';
import { day, type Step, stored, write } from './call.ts';

const OPEN = 'open.gate.fluxcd.io/requestedAt';
const CLOSE = 'close.gate.fluxcd.io/requestedAt';
const FOR = 'open.gate.fluxcd.io/for';
const COPY = 'gate.fluxcd.io/accepted-request';

describe('the request that counts is the one that arrived last', () => {
  const KEYS: Record<string, string> = { open: OPEN, close: CLOSE, for: FOR, copy: COPY };
  const TIME = /^\d\d:\d\d:\d\d$/;
  type Asked = { at: string; by?: string; spec?: object } & Record<string, any>;
  const cases: { rule: string; spec: Gate['spec']; writes: Asked[]; at: string; expect: object }[] = parse(
    readFileSync(join(import.meta.dirname, 'requests.yaml'), 'utf8'),
    (_key, value) => (typeof value === 'string' && TIME.test(value) ? day(value) : value),
  );

  it.each(cases)('$rule', async ({ spec, writes, at, expect: expected }) => {
    const steps = writes.map(({ at, by = 'alice', spec: change = {}, ...asked }): Step => {
      const annotate = Object.fromEntries(Object.entries(asked).map(([key, value]) => [KEYS[key]!, value]));
      return { at, user: by, annotate, spec: { ...change } };
    });
    expect(evaluated(await stored(spec, steps), at)).toMatchObject(expectedOf(expected));
  });
});

describe('selecting beyond its own namespace needs a right of its own', () => {
  const all = { namespaceSelector: {} };
  const team = { namespaceSelector: { matchLabels: { team: 'a' } } };
  const rows: [title: string, selects: object | undefined, before: object | undefined | 'none', asked: boolean][] = [
    ['a new Gate that selects all namespaces', all, 'none', true],
    ['a new Gate that selects some', team, 'none', true],
    ['a new Gate that selects in its own', { labelSelector: {} }, 'none', false],
    ['a Gate that gets such a selection', all, undefined, true],
    ['one that selects more', all, team, true],
    ['one that selects other kinds there', { ...team, kinds: ['Bucket'] }, team, true],
    ['one that selects what it did', team, team, false],
    ['one that draws back to its namespace', {}, all, false],
  ];
  it.each(rows)('%s', async (_, selects, before, asked) => {
    const of = (wanted: object | undefined) => gate({ default: 'opened', ...(wanted && { selects: wanted }) });
    const at = day('10:00:00');
    const attempt = { object: of(selects), at, ...(before !== 'none' && { old: of(before) }) };
    const denied = await write(validateGate, attempt);
    expect(denied.allowed).toBe(!asked);
    if (asked)
      expect(denied.message).toMatch(
        /alice needs the verb select-namespaces on gates in the whole cluster to hold objects of other namespaces/,
      );
    expect(await write(validateGate, { ...attempt, may: ['alice select-namespaces'] })).toMatchObject({
      allowed: true,
    });
  });
});

it('a Gate gets no selection of other namespaces if such references are forbidden, from any user', async () => {
  const object = gate({ default: 'opened', selects: { namespaceSelector: {} } });
  const attempt = {
    object,
    at: day('10:00:00'),
    may: ['alice select-namespaces'],
    settings: { noCrossNamespaceRefs: true },
  };
  const answer = await write(validateGate, attempt);
  expect(answer).toMatchObject({ allowed: false, message: expect.stringContaining('NO_CROSS_NAMESPACE_REFS forbids') });
  expect(await write(validateGate, { ...attempt, old: object })).toMatchObject({ allowed: true });
});

describe('an invalid spec is denied with its field', () => {
  const cases: [string, Gate['spec'] | object, Record<string, string> | undefined, string][] = [
    ['an empty time', { default: 'closed' }, { [CLOSE]: '' }, `metadata.annotations[${CLOSE}]: Invalid value: ""`],
    ['no zone', { default: 'closed' }, { [OPEN]: '2026-01-05T10:00:00' }, 'expected an RFC 3339 time'],
    ['24 o’clock', { default: 'closed' }, { [OPEN]: '2026-01-05T24:00:00Z' }, 'expected an RFC 3339 time'],
    ['a year beyond writing', { default: 'closed' }, { [OPEN]: '+12026-01-05T10:00:00Z' }, 'expected an RFC 3339 time'],
    ['a bad interval', { default: 'closed', interval: '1 day' }, undefined, 'spec.interval: Invalid value: "1 day"'],
    [
      'an unknown time zone',
      { default: 'closed', schedule: { timezone: 'Mars/Olympus', rules: [{}] } },
      undefined,
      'spec.schedule.timezone: Invalid value: "Mars/Olympus": unknown time zone',
    ],
    [
      'a selector without values',
      { default: 'closed', selects: { labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      undefined,
      'spec.selects.labelSelector.matchExpressions[0].values: Invalid value: []',
    ],
    [
      'a version that is no tag',
      { default: 'closed' },
      { [FOR]: '1.0 or 2.0' },
      `metadata.annotations[${FOR}]: Invalid value: "1.0 or 2.0"`,
    ],
  ];
  it.each(cases)('%s', async (_name, spec, annotations, message) => {
    const answer = await write(validateGate, { object: gate(spec as Gate['spec'], annotations), at: day('10:00:00') });
    expect(answer).toMatchObject({ allowed: false });
    expect(answer.message).toContain(message);
  });

  it.each([
    [
      'a time far ahead',
      gate({ default: 'closed' }, { [OPEN]: '2027-01-05T10:00:00Z' }),
      undefined,
      '365 days ahead: the open request takes effect at 2027-01-05T10:00:00Z, not now',
    ],
    [
      'a window of nothing',
      gate({ default: 'closed', window: '0s' }),
      undefined,
      'spec.window is 0s: a request ends immediately and has no effect',
    ],
    [
      'a time from before the last one',
      gate({ default: 'closed' }, { [OPEN]: day('09:00:00') }),
      gate({ default: 'closed' }, { [OPEN]: day('10:00:00') }),
      `${OPEN} ${day('09:00:00')} repeats or precedes an earlier request: set a new time`,
    ],
  ])('%s gets a warning', async (_name, object, old, warning) => {
    const answer = await write([mutateGate, validateGate], { object, old, at: day('10:00:00') });
    expect(answer).toMatchObject({ allowed: true, warnings: [warning] });
    expect(warning.length).toBeLessThanOrEqual(120);
  });
});

it.each([
  ['from now on', day('10:00:00')],
  ['that begins later', day('12:00:00')],
])('a closure with its end in the same write, %s, gets no warning', async (_, begins) => {
  const object = gate({ default: 'opened' }, { [CLOSE]: begins, [OPEN]: day('16:00:00') });
  const answer = await write([mutateGate, validateGate], { object, at: day('10:00:00') });
  expect(answer).toMatchObject({ allowed: true, warnings: [] });
});

describe('an opening for one version', () => {
  const schedule = { timezone: 'UTC', action: 'Close', rules: [{ name: 'friday', daysOfWeek: ['Friday'] }] } as const;
  const useless = 'the opening for shop/web:1.2.0 has no effect while the Gate is open';
  const ahead = '5h0m0s ahead: the open request takes effect at 2026-01-05T16:00:00Z, not now';
  const leftOver = `opens for shop/web:1.2.0 only, because ${FOR} is still set; remove it to open for all`;
  const closure = { [CLOSE]: day('10:00:00') };
  const opening = (time: string) => ({ [OPEN]: day(time), [FOR]: 'shop/web:1.2.0' });

  it.each<[title: string, spec: object, before: object, annotate: object, warnings: string[]]>([
    ['after a closure gets no Warning', { schedule }, closure, opening('11:00:00'), []],
    ['at an open Gate has no effect', { schedule }, {}, opening('11:00:00'), [useless]],
    ['nor after the end of a closure', { window: '1h' }, closure, opening('11:00:00'), [useless]],
    [
      'planned for a time at which the Gate is open has no effect either',
      {},
      {},
      opening('16:00:00'),
      [ahead, useless],
    ],
    [
      'without a new time is no request',
      { default: 'closed' },
      { [OPEN]: day('10:00:00') },
      { [FOR]: '1.2.0' },
      [`${FOR} has no effect without a new time in ${OPEN}`],
    ],
    [
      'that replaces an earlier one ends it',
      { default: 'closed' },
      { [OPEN]: day('10:00:00'), [FOR]: '1.1.0' },
      opening('11:00:00'),
      ['ends the opening for 1.1.0'],
    ],
    [
      'that begins later ends an earlier one of the same version',
      { default: 'closed' },
      opening('10:00:00'),
      { [OPEN]: day('16:00:00') },
      [ahead, leftOver, 'ends the opening for shop/web:1.2.0'],
    ],
    [
      'ends a planned one of the same version if it ends before that begins',
      { default: 'closed', window: '1h' },
      opening('16:00:00'),
      { [OPEN]: day('11:00:00') },
      [leftOver, 'ends the opening for shop/web:1.2.0'],
    ],
    [
      'extends an earlier one of the same version',
      { default: 'closed', window: '4h' },
      opening('10:00:00'),
      { [OPEN]: day('11:00:00') },
      [leftOver],
    ],
    [
      'ends no earlier one that has no effect, because the Gate is open',
      {},
      { [OPEN]: day('10:00:00'), [FOR]: '1.1.0' },
      opening('11:00:00'),
      [useless],
    ],
    [
      'ends an earlier one that would have an effect after the Gate has closed',
      { window: '120h', schedule },
      { [OPEN]: day('10:00:00'), [FOR]: '1.1.0' },
      opening('11:00:00'),
      [useless, 'ends the opening for 1.1.0'],
    ],
    ['cancels no planned closure', {}, { [CLOSE]: day('16:00:00') }, opening('11:00:00'), [useless]],
  ])('%s', async (_, more, before, annotate, warnings) => {
    const spec = { default: 'opened', ...more } as Gate['spec'];
    const old = await stored(spec, [{ at: day('10:00:00'), annotate: before as Record<string, string> }]);
    const object = { ...old, metadata: { ...old.metadata, annotations: { ...old.metadata.annotations, ...annotate } } };
    const answer = await write([mutateGate, validateGate], { object, old, at: day('11:00:00') });
    expect(answer).toMatchObject({ allowed: true, warnings });
    for (const warning of warnings) expect(warning.length).toBeLessThanOrEqual(120);
  });
});

it.each([OPEN, CLOSE])('a request that cancels a planned one gets a Warning: %s', async (key) => {
  const old = await stored({ default: 'opened' }, [
    { at: day('10:00:00'), user: 'sre', annotate: { [CLOSE]: day('16:00:00') } },
  ]);
  const annotations = { ...old.metadata.annotations, [key]: day('11:00:00') };
  const object = { ...old, metadata: { ...old.metadata, annotations } };
  const { warnings } = await write([mutateGate, validateGate], { object, old, at: day('11:00:00') });
  expect(warnings).toEqual(['cancels the closure planned for 2026-01-05T16:00:00Z by sre']);
});

describe('another spec.default while a request keeps the Gate in the other state', () => {
  const stays = (state: string, end: string) =>
    `spec.default: the Gate stays ${state}, by the request of ${day('10:00:00')}, until ${end}`;
  const schedule = { action: 'Close', rules: [{ daysOfWeek: ['Sunday'] }] };
  const changed: [string, string] = ['opened', 'closed'];

  it.each<[title: string, action: string, [before: string, after: string], more: object, warnings: string[]]>([
    [
      'closes nothing in the window of an opening',
      OPEN,
      changed,
      { schedule, window: '4h' },
      [stays('open', day('14:00:00'))],
    ],
    [
      'opens nothing after a closure',
      CLOSE,
      ['closed', 'opened'],
      { schedule },
      [stays('closed', 'a request opens it')],
    ],
    ['has an effect at once without a schedule', OPEN, changed, {}, []],
    ['and after the opposite request', CLOSE, changed, { schedule }, []],
    ['stays as it was', CLOSE, ['opened', 'opened'], { schedule, interval: '2m' }, []],
  ])('%s', async (_, action, [before, after], more, warnings) => {
    const old = await stored({ default: before, ...more } as Gate['spec'], [
      { at: day('10:00:00'), annotate: { [action]: day('10:00:00') } },
    ]);
    const object = { ...old, spec: { ...old.spec, default: after } as Gate['spec'] };
    const answer = await write([mutateGate, validateGate], { object, old, at: day('11:00:00') });
    expect(answer).toMatchObject({ allowed: true, warnings });
    for (const warning of warnings) expect(warning.length).toBeLessThanOrEqual(120);
  });

  it('gets no Warning about the request of the same write', async () => {
    const old = gate({ default: 'closed' });
    const object = gate({ default: 'opened' }, { [CLOSE]: day('10:00:00') });
    const answer = await write([mutateGate, validateGate], { object, old, at: day('10:00:00') });
    expect(answer).toMatchObject({ allowed: true, warnings: [] });
  });
});

describe('the record of signed calls', () => {
  const USED = 'gate.fluxcd.io/used-calls';
  const entry = (time: string, digit: string) => `${Date.parse(day(time)) / 1000}:${digit.repeat(16)}`;
  const [stored1, forged] = [entry('09:59:30', 'a'), entry('10:00:00', 'b')];
  const usedAfter = async (annotations: Record<string, string>) => {
    const old = gate({ default: 'closed' }, { [USED]: stored1 });
    const { object } = await write(mutateGate, {
      object: gate({ default: 'closed' }, annotations),
      old,
      at: day('10:00:00'),
    });
    return object!.metadata.annotations?.[USED];
  };

  it('takes the text of a write with a request, and keeps the stored rest', async () => {
    expect(await usedAfter({ [OPEN]: day('10:00:00'), [USED]: forged })).toBe(`${stored1},${forged}`);
  });

  it('takes nothing from a write without a request, and keeps the stored text', async () => {
    expect(await usedAfter({ [USED]: `${stored1},${forged}` })).toBe(stored1);
    expect(await usedAfter({})).toBe(stored1);
  });

  it('takes no call from later than a minute ahead, which would be one of the last minute for long', async () => {
    expect(await usedAfter({ [OPEN]: day('10:00:00'), [USED]: entry('10:01:01', 'c') })).toBe(stored1);
  });
});
