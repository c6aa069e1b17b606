/** The end of a closure or opening that a text promises is the one that the Gate keeps: its own spec decides. */
import { describe, expect, it } from 'vitest';
import { ACCEPTED_REQUEST } from '../../../../api/annotations.ts';
import type { Gate } from '../../../../api/types.ts';
import { freeze } from '../../../../client/actions/writes/freeze.ts';
import { type ClosedSpan, closeGate, gateAfter, openGate } from '../../../../client/actions/writes/gateWrites.ts';
import { isRequest, type PlannedWrite } from '../../../../client/actions/writes/plannedWrite.ts';
import { formatAcceptedRequests } from '../../../../core/gate/gateRequests.ts';
import { evaluateGate } from '../../../../core/gate/gateTimeline.ts';
import { objectOf } from '../../../support/objects.ts';

const NOW = Date.parse('2026-11-25T10:00:00Z');
const HOUR = 3_600_000;
const KINDS = ['Kustomization', 'HelmRelease', 'Rollout'];

function gate(spec: object): Gate {
  return objectOf('Gate', {
    metadata: { namespace: 'shop', name: 'weekend' },
    spec: { default: 'opened', selects: { kinds: KINDS }, ...spec },
  } as never);
}

const textOf = (planned: PlannedWrite) => (isRequest(planned) ? planned.text : planned.none);

function storedAfter(before: Gate, planned: PlannedWrite): Gate {
  if (!isRequest(planned)) throw new Error(planned.none);
  return gateAfter(before, planned.body.metadata?.annotations ?? {}, NOW);
}

/** Whether the Gate is open at each of these hours from now, after the write. */
function openAt(before: Gate, planned: PlannedWrite, hours: readonly number[]): boolean[] {
  const after = storedAfter(before, planned);
  return hours.map((hour) => evaluateGate(after, NOW + hour * HOUR).opened);
}

const nights = {
  timezone: 'UTC',
  action: 'Close',
  rules: [{ timeRange: { start: '11:00', end: '13:00' } }],
};

describe('closing a Gate', () => {
  it.each<[string, object, ClosedSpan, string, boolean[]]>([
    ['without an end', {}, {}, 'Closed Gate shop/weekend', [false, false, false, false]],
    [
      'whose window ends it',
      { window: '2h' },
      {},
      'Closed Gate shop/weekend until 2026-11-25T12:00:00Z, by its spec.window (2h)',
      [false, false, true, true],
    ],
    [
      'later, whose window ends it',
      { window: '2h' },
      { at: NOW + HOUR },
      'Planned to close Gate shop/weekend at 2026-11-25T11:00:00Z until 2026-11-25T13:00:00Z, by its spec.window (2h)',
      [true, false, false, true],
    ],
    [
      'later, for as long as its window',
      { window: '1h' },
      { at: NOW + HOUR, lasts: HOUR },
      'Planned to close Gate shop/weekend at 2026-11-25T11:00:00Z until 2026-11-25T12:00:00Z',
      [true, false, true, true],
    ],
    [
      'before its longer window',
      { window: '4h' },
      { lasts: HOUR },
      'Closed Gate shop/weekend until 2026-11-25T11:00:00Z',
      [false, true, true, true],
    ],
    [
      'up to the end of its window',
      { window: '2h' },
      { lasts: 2 * HOUR },
      'Closed Gate shop/weekend until 2026-11-25T12:00:00Z',
      [false, false, true, true],
    ],
    [
      'whose schedule closes it for longer than its window',
      { window: '2h', schedule: nights },
      {},
      'Closed Gate shop/weekend until 2026-11-25T13:00:00Z, by its spec.window (2h) and its spec.schedule',
      [false, false, false, true],
    ],
    [
      'that is closed by default',
      { default: 'closed', window: '2h' },
      {},
      'Closed Gate shop/weekend',
      [false, false, false, false],
    ],
    [
      'that approvals alone let through',
      { default: 'closed', approvals: { required: 2 } },
      { lasts: HOUR },
      'Closed Gate shop/weekend until 2026-11-25T11:00:00Z; it is closed then too: Gate closed by default',
      [false, false, false, false],
    ],
    [
      'with approvals, open by default',
      { approvals: { required: 2 } },
      { lasts: HOUR },
      'Closed Gate shop/weekend until 2026-11-25T11:00:00Z',
      [false, true, true, true],
    ],
  ])('%s', (_, spec, span, text, opened) => {
    const before = gate(spec);
    const planned = closeGate(before, span, NOW);
    expect(textOf(planned)).toBe(text);
    expect(openAt(before, planned, [0, 1, 2, 3])).toEqual(opened);
  });

  const EARLY =
    'Gate shop/weekend would be closed until 2026-11-25T12:00:00Z, not until 2026-11-25T14:00:00Z: its spec.window is 2h. ' +
    'Change that, or freeze with another name.\nTo close it until 2026-11-25T12:00:00Z:\n' +
    "  kubectl rollouts close weekend -n shop --reason 'INC-42: disk'";

  it('until after its window is refused, by `close` and by `freeze`', () => {
    const [before, wanted] = [gate({ window: '2h' }), { lasts: 4 * HOUR, reason: 'INC-42: disk' }];
    expect(textOf(closeGate(before, wanted, NOW))).toBe(EARLY);
    expect(textOf(freeze({ namespace: 'shop', name: 'weekend' }, wanted, before, NOW))).toBe(EARLY);
  });

  it.each<[string, object, string, string]>([
    ['without a window', {}, 'until a user opens it', 'its spec.window is not set'],
    ['with a longer window', { window: '2h' }, 'until 2026-11-25T13:00:00Z', 'its spec.window is 2h'],
    ['with a shorter window', { window: '30m' }, 'until 2026-11-25T11:30:00Z', 'its spec.window is 30m'],
    ['that is closed by default', { default: 'closed' }, 'until a user opens it', 'it is closed by default'],
  ])('later and until an end is refused for a Gate %s', (_, spec, kept, reason) => {
    expect(textOf(closeGate(gate(spec), { at: NOW + HOUR, lasts: HOUR }, NOW))).toBe(
      `Gate shop/weekend would be closed at 2026-11-25T11:00:00Z ${kept}, not until 2026-11-25T12:00:00Z: ${reason}. ` +
        `Change that, or freeze with another name.\nTo close it ${kept}:\n` +
        '  kubectl rollouts close weekend -n shop --at 2026-11-25T11:00:00Z',
    );
  });

  it('cancels a planned opening, which is no end of it', () => {
    const planned = { action: 'open', at: NOW + HOUR, by: 'alice' } as const;
    const record = formatAcceptedRequests({ planned, handled: {} });
    const before = { ...gate({}), metadata: { ...gate({}).metadata, annotations: { [ACCEPTED_REQUEST]: record } } };
    expect(textOf(closeGate(before, {}, NOW))).toBe('Closed Gate shop/weekend');
  });

  it.each<[string, ClosedSpan, (gate: Gate) => PlannedWrite, string, boolean[]]>([
    [
      'that an opening has cancelled',
      { at: NOW + HOUR },
      (gate) => openGate(gate, {}, NOW),
      'Planned to close Gate shop/weekend at 2026-11-25T11:00:01Z',
      [true, true, false],
    ],
    [
      'whose end a closure without an end has cancelled',
      { lasts: HOUR },
      (gate) => closeGate(gate, {}, NOW),
      'Closed Gate shop/weekend until 2026-11-25T11:00:01Z',
      [false, false, true],
    ],
  ])('can be planned again for the same time, a second later: one %s', (_, span, cancels, text, opened) => {
    let before = gate({});
    for (const planned of [closeGate(before, span, NOW), cancels]) {
      before = storedAfter(before, typeof planned === 'function' ? planned(before) : planned);
    }
    const again = closeGate(before, span, NOW);
    expect(textOf(again)).toBe(text);
    expect(openAt(before, again, [0, 1, 2])).toEqual(opened);
  });

  it('ends an opening for one version, which can be planned again for the same time, a second later', () => {
    const plan = (gate: Gate) => openGate(gate, { version: '1.2.0', at: NOW + HOUR }, NOW);
    const planned = storedAfter(gate({ default: 'closed' }), plan(gate({ default: 'closed' })));
    const again = plan(storedAfter(planned, closeGate(planned, {}, NOW)));
    expect(textOf(again)).toBe('Planned to open Gate shop/weekend for 1.2.0 only at 2026-11-25T11:00:01Z');
    const forAll = openGate(planned, { at: NOW + HOUR }, NOW);
    expect(textOf(forAll)).toBe('Planned to open Gate shop/weekend at 2026-11-25T11:00:01Z');
  });

  it('planned for the time of an opening for one version lets that one not begin', () => {
    const closing = closeGate(gate({}), { at: NOW + HOUR }, NOW);
    const before = storedAfter(gate({}), closing);
    expect(textOf(openGate(before, { version: '1.2.0', at: NOW + HOUR }, NOW))).toBe(
      'Gate shop/weekend would stay closed: a closure is planned for that time.',
    );
  });

  it('counts in whole seconds, as the Gate does', () => {
    const text = textOf(closeGate(gate({}), { lasts: HOUR }, NOW + 900));
    expect(text).toBe('Closed Gate shop/weekend until 2026-11-25T11:00:00Z');
  });

  it.each([
    ['0s', 'Gate shop/weekend would stay open: its spec.window is 0s.'],
    ['soon', expect.stringMatching(/^Gate shop\/weekend would stay open: spec\.window: .*soon/)],
  ])('with the window %s is refused, because the request has no effect', (window, text) => {
    expect(textOf(closeGate(gate({ window }), {}, NOW))).toEqual(text);
  });

  it('for less than a minute is refused, because the Gate takes both requests for now', () => {
    expect(textOf(closeGate(gate({}), { lasts: 30_000 }, NOW))).toMatch(/less than a minute ahead/);
    expect(textOf(freeze({ namespace: 'shop', name: 'new' }, { lasts: 30_000 }, undefined, NOW))).toMatch(
      /less than a minute ahead/,
    );
  });
});

it.each<[string, object, ClosedSpan, string[]]>([
  ['no end', {}, {}, []],
  ['the end', {}, { lasts: HOUR }, ['It will be closed until 2026-11-25T11:00:00Z']],
  [
    'the end of its window',
    { window: '2h' },
    {},
    ['It will be closed until 2026-11-25T12:00:00Z, by its spec.window (2h)'],
  ],
  [
    'a planned span that is as long as its window',
    { window: '2h' },
    { at: NOW + HOUR, lasts: 2 * HOUR },
    ['It will be closed at 2026-11-25T11:00:00Z until 2026-11-25T13:00:00Z'],
  ],
])('before a freeze of an existing Gate a user confirms %s', (_, spec, span, confirmed) => {
  const planned = freeze({ namespace: 'shop', name: 'weekend' }, span, gate(spec), NOW);
  expect(isRequest(planned) && planned.concerns.slice(1)).toEqual(confirmed);
});

it.each<[string, object, Parameters<typeof openGate>[1], string]>([
  [
    'is extended by its window',
    { default: 'closed', window: '4h' },
    {},
    'Extended the opening of Gate shop/weekend until 2026-11-25T15:00:00Z',
  ],
  [
    'for one version is extended by its window',
    { default: 'closed', window: '4h' },
    { version: '1.2.0' },
    'Extended the opening of Gate shop/weekend for 1.2.0 only until 2026-11-25T15:00:00Z',
  ],
  [
    'until its schedule closes it stays open for its window',
    { default: 'opened', window: '24h', schedule: { action: 'Close', rules: [{ daysOfWeek: ['Thursday'] }] } },
    {},
    'Extended the opening of Gate shop/weekend until 2026-11-26T11:00:00Z',
  ],
  [
    'until its schedule closes it, without a window, keeps its end',
    { default: 'closed', schedule: { action: 'Open', rules: [{ daysOfWeek: ['Wednesday'] }] } },
    {},
    'Gate shop/weekend is open already, until 2026-11-26T00:00:00Z.',
  ],
  [
    'for one version and without an end stays',
    { default: 'closed' },
    { version: '1.2.0' },
    'Gate shop/weekend is open for 1.2.0 already.',
  ],
])('opening a Gate that is open %s', (_, spec, opening, text) => {
  const first = openGate(gate(spec), opening, NOW);
  const written = isRequest(first) ? (first.body.metadata?.annotations ?? {}) : {};
  const open = gateAfter(gate(spec), written, NOW);
  const again = openGate({ ...open, status: { requiredByCount: 3 } }, opening, NOW + HOUR);
  expect(isRequest(again) ? again : { text: again.none, concerns: [] }).toMatchObject({ text, concerns: [] });
});
