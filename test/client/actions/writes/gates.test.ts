import { describe, expect, it } from 'vitest';
import type { Gate, RolloutGate } from '../../../../api/types.ts';
import { type FreezeRequest, freeze, type Selects } from '../../../../client/actions/writes/freeze.ts';
import { approveAtGate, closeGate, openGate, withdrawAtGate } from '../../../../client/actions/writes/gateWrites.ts';
import { isRequest, type PlannedWrite, type WriteRequest } from '../../../../client/actions/writes/plannedWrite.ts';
import {
  approve,
  holdsVersion,
  reject,
  setPassing,
  withdraw,
} from '../../../../client/actions/writes/rolloutGateWrites.ts';
import { freezeConcerns, heldText, selectedObjects } from '../../../../connection/read/heldObjects.ts';
import { formatAcceptedRequests } from '../../../../core/gate/gateRequests.ts';
import { evaluateGate } from '../../../../core/gate/gateTimeline.ts';
import { objectOf } from '../../../support/objects.ts';

const NOW = Date.parse('2026-11-25T10:00:00Z');
const HOUR = 3_600_000;

function gate(annotations: Record<string, string> = {}, spec: object = {}, status?: object): Gate {
  return objectOf('Gate', {
    metadata: { namespace: 'shop', name: 'incident', annotations },
    spec: { default: 'opened', ...spec },
    ...(status && { status }),
  } as never);
}

function rolloutGate(spec: object = {}, labels?: Record<string, string>, status?: object): RolloutGate {
  return objectOf('RolloutGate', {
    metadata: { namespace: 'shop', name: 'qa', resourceVersion: '7', ...(labels && { labels }) },
    spec: { rolloutRef: { name: 'checkout' }, ...spec },
    ...(status && { status }),
  } as never);
}

const request = (planned: PlannedWrite): WriteRequest => {
  if (!isRequest(planned)) throw new Error(planned.none);
  return planned;
};
const annotations = (planned: PlannedWrite) => request(planned).body.metadata?.annotations ?? {};
const why = (planned: PlannedWrite) => (isRequest(planned) ? undefined : planned.none);

/** The Gate after the action's merge patch. */
function withRequest(before: Gate, planned: PlannedWrite): Gate {
  const entries = Object.entries({ ...before.metadata.annotations, ...annotations(planned) });
  const merged = Object.fromEntries(entries.filter(([, value]) => value !== null)) as Record<string, string>;
  return { ...before, metadata: { ...before.metadata, annotations: merged } };
}

it('an approval reports the number of earlier ones', () => {
  const counted = { approvals: { required: 2, versions: [{ version: '1.2.0', count: 1, enough: false, given: [] }] } };
  const asking = rolloutGate({ approvals: { required: 2 } }, undefined, counted);
  expect(request(approve(asking, '1.2.0', undefined)).text).toMatch(/ \(1 of 2 approvals counted before\)$/);
  expect(request(approve(asking, '1.3.0', undefined)).text).toMatch(/ \(0 of 2 approvals counted before\)$/);
});

describe('closing a Gate', () => {
  it('twice in a second is a new request each time', () => {
    const before = gate({ 'close.gate.fluxcd.io/requestedAt': '2026-11-25T10:00:00Z' });
    expect(annotations(closeGate(before, {}, NOW))).toEqual({
      'close.gate.fluxcd.io/requestedAt': '2026-11-25T10:00:01Z',
    });
  });

  it('takes the reason of an earlier request off', () => {
    const before = gate({ 'close.gate.fluxcd.io/reason': 'INC-1' });
    expect(annotations(closeGate(before, {}, NOW))).toMatchObject({ 'close.gate.fluxcd.io/reason': null });
  });

  it.each([
    [{ until: NOW - 1 }, /is in the past/],
    [{ at: NOW - 1 }, /is in the past/],
    [{ at: NOW + 45_000 }, /less than a minute ahead/],
    [{ at: NOW + HOUR, until: NOW + HOUR }, /later than the beginning/],
  ])('not with %o', (when, sentence) => {
    expect(why(closeGate(gate(), when, NOW))).toMatch(sentence);
  });
});

describe('opening a Gate', () => {
  const closed = gate(
    { 'close.gate.fluxcd.io/requestedAt': '2026-11-25T09:00:00Z' },
    {},
    { requiredByCount: 3, requiredBy: [{ kind: 'Kustomization', namespace: 'shop', name: 'checkout' }] },
  );

  it('first lists the objects that it releases', () => {
    expect(request(openGate(closed, {}, NOW)).concerns).toEqual([
      'It releases 3 objects: Kustomization shop/checkout and 2 more',
    ]);
  });

  it('for one version releases nothing else, and an opening for all versions drops the version', () => {
    const planned = openGate(closed, { version: '1.2.0' }, NOW);
    expect(request(planned).concerns).toEqual([]);
    const open = withRequest(closed, planned);
    expect(evaluateGate(open, NOW)).toMatchObject({ opened: false, openFor: '1.2.0' });
    expect(annotations(openGate(open, {}, NOW))).toMatchObject({ 'open.gate.fluxcd.io/for': null });
  });

  it.each([
    [
      'an end by its window',
      { default: 'closed', window: '1h' },
      'Opened Gate shop/incident until 2026-11-25T11:00:00Z',
    ],
    ['no end', { default: 'closed' }, 'Opened Gate shop/incident'],
    [
      'approvals',
      { default: 'closed', approvals: { required: 1 } },
      'Ended the request to close Gate shop/incident, which stays closed: Gate closed by default',
    ],
  ])('with %s reports the state afterwards', (_, spec, text) => {
    expect(request(openGate(withRequest(gate({}, spec), closeGate(gate({}, spec), {}, NOW)), {}, NOW)).text).toBe(text);
  });

  it('is not planned for the past', () => {
    expect(why(openGate(closed, { at: NOW - 1 }, NOW))).toMatch(/is in the past/);
  });

  it('with approvals is refused for one version, even after a closure', () => {
    const several = gate({}, { approvals: { required: 1 } });
    expect(why(openGate(withRequest(several, closeGate(several, {}, NOW)), { version: '1.2.0' }, NOW))).toMatch(
      /approve a version instead/,
    );
  });

  it('for one version at a later time has no effect if the Gate is open then', () => {
    expect(why(openGate(gate(), { version: '1.2.0', at: NOW + HOUR }, NOW))).toBe(
      'Gate shop/incident is open at 2026-11-25T11:00:00Z, for every version.',
    );
    const spec = { default: 'closed', window: '1h' } as const;
    expect(request(openGate(gate({}, spec), { version: '1.2.0', at: NOW + HOUR }, NOW)).text).toBe(
      'Planned to open Gate shop/incident for 1.2.0 only at 2026-11-25T11:00:00Z until 2026-11-25T12:00:00Z',
    );
  });

  it('first names a planned closure that this cancels', () => {
    const planned = withRequest(gate(), closeGate(gate(), { at: NOW + HOUR }, NOW));
    expect(request(openGate(planned, {}, NOW)).concerns).toEqual([
      'It cancels the closure planned for 2026-11-25T11:00:00Z',
    ]);
  });

  it('that would stay closed is refused', () => {
    const useless = gate({}, { default: 'closed', window: '0s' });
    expect(why(openGate(useless, {}, NOW))).toBe('Gate shop/incident would stay closed: its spec.window is 0s.');
  });

  it('that is open is nothing', () => {
    expect(why(openGate(gate(), {}, NOW))).toBe('Gate shop/incident is open already.');
    expect(why(openGate(gate(), { version: '1.2.0' }, NOW))).toMatch(/is open already, for every version\.$/);
  });

  it.each([
    ['open', 'close', openGate],
    ['close', 'open', closeGate],
  ] as const)('or closing counts if the user’s clock is behind (%s)', (action, before, write) => {
    const current = { action: before, at: NOW, by: 'alice' };
    const record = formatAcceptedRequests({ current, handled: { [action]: NOW } });
    const planned = write(gate({ 'gate.fluxcd.io/accepted-request': record }), {}, NOW - 2 * HOUR);
    expect(annotations(planned)[`${action}.gate.fluxcd.io/requestedAt`]).toBe('2026-11-25T10:00:01Z');
  });
});

describe('approving at a Gate', () => {
  const rollout = { namespace: 'shop', name: 'checkout' };
  const several = gate({}, { default: 'closed', approvals: { required: 2 } });

  it('for several Rollouts is one approval, for the intended Rollout', () => {
    expect(annotations(approveAtGate(several, '1.2.0', { reason: 'CHG-7', rollout }, NOW))).toEqual({
      'approve.gate.fluxcd.io/for': 'shop/checkout:1.2.0',
      'approve.gate.fluxcd.io/reason': 'CHG-7',
    });
    expect(annotations(approveAtGate(several, '1.2.0', {}, NOW))).toEqual({ 'approve.gate.fluxcd.io/for': '1.2.0' });
    expect(annotations(approveAtGate(several, 'shop/checkout:1.2.0', {}, NOW))).toEqual({
      'approve.gate.fluxcd.io/for': 'shop/checkout:1.2.0',
    });
  });

  it.each([{}, { approvals: { required: 1 } }])('names the Flux objects that stay held, and the bypass: %o', (spec) => {
    const textAt = (...kinds: string[]) => {
      const requiredBy = kinds.map((kind) => ({ kind, ...rollout }));
      const held = gate({}, { default: 'closed', ...spec }, { requiredByCount: kinds.length, requiredBy });
      return request(approveAtGate(held, '1.2.0', { rollout }, NOW)).text;
    };
    expect(textAt('Kustomization', 'Rollout')).toMatch(
      /\. It still holds Kustomization shop\/checkout: Rollouts .*\n.*\n {2}kubectl rollouts bypass checkout 1\.2\.0 -n shop --reason "<why>"$/,
    );
    expect(textAt('Rollout')).not.toContain('still holds');
  });

  it('of any other Gate opens it for the Rollout’s version, if that is known', () => {
    const one = gate({}, { default: 'closed' });
    const precise = { 'open.gate.fluxcd.io/for': 'shop/checkout:1.2.0' };
    expect(annotations(approveAtGate(one, '1.2.0', { rollout }, NOW))).toMatchObject(precise);
    const planned = openGate(one, { version: 'shop/checkout:1.2.0' }, NOW);
    expect(annotations(planned)).toMatchObject(precise);
    expect(request(planned).brings).toEqual({ version: '1.2.0' });
    expect(why(openGate(one, { version: 'checkout:1.2.0' }, NOW))).toMatch(/neither a tag nor <namespace>/);
  });

  it('is withdrawn if there can be one', () => {
    expect(annotations(withdrawAtGate(several, '1.2.0'))).toEqual({ 'unapprove.gate.fluxcd.io/for': '1.2.0' });
    expect(why(withdrawAtGate(gate(), '1.2.0'))).toMatch(/no spec\.approvals/);
  });
});

describe('a freeze', () => {
  const ref = { namespace: 'shop', name: 'incident' };
  const SELECTS = { kinds: ['HelmRelease', 'Rollout'], namespaceSelector: {} } satisfies Selects;

  it('is one Gate that is closed from the beginning and opens by itself', () => {
    const { body, creates } = request(freeze(ref, { reason: 'INC-42', until: NOW + 24 * HOUR }, undefined, NOW));
    expect(creates).toBe(true);
    expect(body.spec).toEqual({ default: 'opened', selects: { kinds: ['Kustomization', 'HelmRelease', 'Rollout'] } });
    const made = body as unknown as Gate;
    expect(evaluateGate(made, NOW)).toMatchObject({ opened: false, until: NOW + 24 * HOUR });
    expect(evaluateGate(made, NOW + 24 * HOUR).opened).toBe(true);
  });

  it('by the calendar has no request now', () => {
    const every = { days: ['Friday'], timezone: 'Europe/Berlin' };
    const { body } = request(freeze(ref, { every }, undefined, NOW));
    expect(body.metadata?.annotations).toBeUndefined();
    expect(body.spec?.schedule).toEqual({
      timezone: 'Europe/Berlin',
      action: 'Close',
      rules: [{ daysOfWeek: ['Friday'] }],
    });
  });

  it('that begins later lasts as long as the window', () => {
    for (const end of [{ lasts: 2 * HOUR }, { until: NOW + 3 * HOUR }]) {
      const made = request(freeze(ref, { at: NOW + HOUR, ...end }, undefined, NOW)).body as unknown as Gate;
      const opened = [0, 1, 2, 3].map((hours) => evaluateGate(made, NOW + hours * HOUR).opened);
      expect(opened).toEqual([true, false, false, true]);
    }
  });

  it('with the name of an existing Gate without kinds, which selects every Flux kind, lacks Rollouts only', () => {
    expect(request(freeze(ref, {}, gate({}, { selects: {} }), NOW)).concerns).toEqual([
      'Gate shop/incident exists: its spec stays as it is, and selects no Rollout',
    ]);
  });

  it('with the name of an existing Gate closes it unchanged', () => {
    const planned = freeze(ref, { reason: 'INC-43' }, gate({}, { selects: { kinds: ['HelmRelease'] } }), NOW);
    expect(request(planned).concerns).toEqual([
      'Gate shop/incident exists: its spec stays as it is, and selects no Kustomization and no Rollout',
    ]);
    expect(request(planned).body.spec).toBeUndefined();
    expect(annotations(planned)).toMatchObject({ 'close.gate.fluxcd.io/reason': 'INC-43' });
  });

  it.each([
    [{ selects: { kinds: ['Rollout'] } }, /selects something else/],
    [{ selects: { kinds: ['HelmRelease'] } }, /selects something else/],
    [{ selects: { ...SELECTS, labelSelector: {} } }, /selects something else/],
    [{ at: NOW + HOUR, lasts: HOUR }, /its spec\.window is 2h/],
    [{ every: { days: ['Friday'], timezone: 'UTC' } }, /change its spec\.schedule/],
    [{ every: { days: ['Friday'], timezone: 'UTC' }, lasts: HOUR }, /--every excludes --at/],
  ])('closes no existing Gate that would do something else: %o', (wanted, sentence) => {
    expect(why(freeze(ref, wanted as FreezeRequest, gate({}, { window: '2h', selects: SELECTS }), NOW))).toMatch(
      sentence,
    );
  });

  it('closes an existing Gate that does what is requested', () => {
    const before = gate({}, { window: '2h', selects: SELECTS });
    const selects = { ...SELECTS, kinds: [...SELECTS.kinds].reverse() };
    for (const wanted of [{ selects }, { selects, until: NOW + HOUR }, { at: NOW + HOUR, lasts: 2 * HOUR }])
      expect(request(freeze(ref, wanted, before, NOW)).creates).toBeUndefined();
  });

  it('lists the objects that it holds', () => {
    const made = request(freeze(ref, {}, undefined, NOW)).body as unknown as Gate;
    const of = (kind: 'Kustomization' | 'GitRepository' | 'Rollout', namespace: string, name: string) =>
      objectOf(kind, { metadata: { namespace, name }, spec: {} } as never);
    const objects = [
      of('Kustomization', 'shop', 'web'),
      of('Kustomization', 'shop', 'api'),
      of('Rollout', 'shop', 'web'),
      of('GitRepository', 'shop', 'web'),
      of('Kustomization', 'other', 'web'),
    ];
    expect(heldText(selectedObjects(made, objects, new Map()))).toBe('2 Kustomizations (api, web) and 1 Rollout (web)');
    expect(heldText([])).toBe('nothing that exists now');
  });

  it('warns before it holds Flux itself, or syncs and their sources', () => {
    const all = gate({}, { selects: { kinds: ['Kustomization', 'GitRepository'], namespaceSelector: {} } });
    const flux = [{ kind: 'Kustomization', namespace: 'flux-system', name: 'flux-system' }];
    expect(freezeConcerns(all, flux).join('\n')).toMatch(
      /Flux's own Kustomization[\s\S]*syncs and sources \(GitRepository\)/,
    );
  });
});

describe('approving at a RolloutGate', () => {
  it.each<[string, object, object]>([
    ['a list gets the version', { allowedVersions: ['1.0.0'] }, { allowedVersions: ['1.0.0', '1.2.0'] }],
    [
      'one that lets nothing through lets this one through',
      { passing: false },
      { passing: true, allowedVersions: ['1.2.0'] },
    ],
    [
      'a rejected version is rejected no more',
      { rejectedVersions: ['1.1.0', '1.2.0'] },
      { rejectedVersions: ['1.1.0'] },
    ],
  ])('%s', (_, spec, expected) => {
    const { body } = request(approve(rolloutGate(spec), '1.2.0', undefined));
    expect(body.spec).toEqual(expected);
    // The patch has the resourceVersion of the list it changes, so that a newer one isn't overwritten.
    expect(body.metadata?.resourceVersion).toBe('7');
  });

  it.each([
    ['allowedVersions', approve],
    ['rejectedVersions', reject],
  ] as const)('a kubectl line that appends to %s records the reason too', (list, write) => {
    const { jsonPatch } = request(write(rolloutGate({ [list]: ['1.0.0'] }), '1.2.0', 'QA-88'));
    expect(jsonPatch!.map(({ path }) => path).slice(1)).toEqual(['/metadata/annotations', `/spec/${list}/-`]);
  });

  it('where several have to is an approval, and no list', () => {
    const { body } = request(approve(rolloutGate({ approvals: { required: 2 } }), '1.2.0', 'QA-88'));
    expect(body).toEqual({
      metadata: {
        annotations: { 'rollout.kuberik.com/approve': '1.2.0', 'rollout.kuberik.com/approve-reason': 'QA-88' },
      },
    });
    expect(annotations(withdraw(rolloutGate({ approvals: { required: 2 } }), '1.2.0'))).toEqual({
      'rollout.kuberik.com/unapprove': '1.2.0',
    });
    expect(why(withdraw(rolloutGate(), '1.2.0'))).toMatch(/no spec\.approvals/);
  });

  it('with enough approvals lets the version through', () => {
    const status = { approvals: { required: 2, versions: [{ version: '1.2.0', count: 2, enough: true, given: [] }] } };
    expect(holdsVersion(rolloutGate({ approvals: { required: 2 } }, undefined, status), '1.2.0')).toBe(false);
    expect(holdsVersion(rolloutGate({ approvals: { required: 2 } }, undefined, status), '1.3.0')).toBe(true);
  });

  it('for an approved version changes nothing', () => {
    expect(why(approve(rolloutGate(), '1.2.0', undefined))).toMatch(/allows 1\.2\.0 already/);
  });

  it('of a schedule would be written over', () => {
    const labels = { 'gate.kuberik.com/schedule-kind': 'RolloutSchedule', 'gate.kuberik.com/schedule-name': 'nights' };
    for (const planned of [
      approve(rolloutGate({ passing: false }, labels), '1.2.0', undefined),
      reject(rolloutGate({}, labels), '1.2.0', undefined),
      setPassing(rolloutGate({}, labels), false, undefined),
    ])
      expect(why(planned)).toMatch(/^RolloutSchedule nights sets RolloutGate /);
  });

  it('opening one with a list releases the list only, and says how to allow every version', () => {
    const listed = { allowedVersions: ['1.0.0'] };
    expect(setPassing(rolloutGate({ ...listed, passing: false }), true, undefined)).toMatchObject({
      text: expect.stringMatching(/^Opened .* for its spec\.allowedVersions only \(1\.0\.0\)$/),
    });
    expect(why(setPassing(rolloutGate({ ...listed, passing: true }), true, undefined))).toMatch(
      /for its spec\.allowedVersions only\.\nTo allow every version:\n {2}kubectl .*"allowedVersions":null/,
    );
  });

  it('keeps the reason where an object keeps why it was changed', () => {
    expect(annotations(reject(rolloutGate(), '1.2.0', 'leaks'))).toEqual({ 'rollout.kuberik.com/reason': 'leaks' });
  });
});
