import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../../api/kubernetes.ts';
import { mutateRolloutGate, validateRolloutGate } from '../../../webhooks/rolloutGate/rolloutGateAdmission.ts';
import { object } from '../../hooks/rollout/call.ts';
import { write as send, type Write } from '../gate/call.ts';
import { admitted, P } from '../rollout/call.ts';

describe('mutate/rolloutgate', () => {
  it('labels a gate with its Rollout, shortened where the name is too long', async () => {
    const gate = (name: string) =>
      object('kuberik.com/v1alpha1', 'RolloutGate', 'g', { rolloutRef: { name }, passing: true });
    const labelOf = async (name: string) => {
      const { object } = await admitted(mutateRolloutGate, { object: gate(name) });
      return object?.metadata.labels?.[`${P}rollout-name`];
    };
    expect(await labelOf('app')).toBe('app');
    expect((await labelOf('a'.repeat(253)))!.length).toBe(63);
    expect(await labelOf('')).toBeUndefined();
  });
});

it.each<[string, name: string, old: string | undefined, warning: boolean]>([
  ['exists', 'app', undefined, false],
  ['does not exist', 'typo', undefined, true],
  ['is changed to one that does not exist', 'typo', 'app', true],
  ['does not exist, and is not changed', 'typo', 'typo', false],
])('a Rollout that %s', async (_, name, before, hasWarning) => {
  const gate = (of: string, spec: object = {}) =>
    object('kuberik.com/v1alpha1', 'RolloutGate', 'g', { rolloutRef: { name: of }, ...spec });
  const old = before === undefined ? undefined : gate(before, { passing: true });
  const objects = [object('kuberik.com/v1alpha1', 'Rollout', 'app', {})];
  const { allowed, warnings } = await admitted(mutateRolloutGate, { object: gate(name), old }, { objects });
  const text = "RolloutGate 'team-a/g' blocks nothing: Rollout 'typo' does not exist";
  expect([allowed, warnings]).toEqual([true, hasWarning ? [text] : []]);
});

describe('the user who changes a list', () => {
  const gate = (more: object, annotations: Record<string, string> = {}) => {
    const made = object('kuberik.com/v1alpha1', 'RolloutGate', 'qa', { rolloutRef: { name: 'app' }, ...more });
    return { ...made, metadata: { ...made.metadata, annotations } };
  };
  const stored = async (next: AnyObject, old: AnyObject | undefined, user = 'alice') => {
    return (await admitted(mutateRolloutGate, { object: next, old, user })).object!.metadata.annotations;
  };
  const reason = { [`${P}reason`]: 'tested, QA-88' };

  it('is recorded with the authenticated user and the reason, which is removed', async () => {
    const annotations = await stored(gate({ allowedVersions: ['1.6.0'] }, reason), gate({ allowedVersions: [] }));
    expect(annotations).not.toHaveProperty([`${P}reason`]);
    expect(JSON.parse(annotations![`${P}listed`]!)).toEqual([
      { field: 'allowedVersions', version: '1.6.0', by: 'alice', at: expect.any(String), reason: 'tested, QA-88' },
    ]);
  });

  it('can’t be written by any user: a record in a write is dropped, a removed one is restored', async () => {
    const old = gate({ allowedVersions: ['1.6.0'] }, (await stored(gate({ allowedVersions: ['1.6.0'] }), gate({})))!);
    const forged = {
      [`${P}listed`]: '[{"field":"allowedVersions","version":"1.6.0","by":"carol","at":"2026-03-01T12:00:00Z"}]',
    };
    for (const annotations of [forged, {}])
      expect(await stored(gate({ allowedVersions: ['1.6.0'] }, annotations), old, 'mallory')).toEqual(
        old.metadata.annotations,
      );
    expect(await stored(gate({}, forged), undefined)).toBeUndefined();
  });

  it('has no reason that was left from another write', async () => {
    const annotations = await stored(gate({ allowedVersions: ['1.6.0'] }, reason), gate({}, reason));
    expect(JSON.parse(annotations![`${P}listed`]!)).toEqual([
      expect.not.objectContaining({ reason: expect.anything() }),
    ]);
    expect(annotations).not.toHaveProperty([`${P}reason`]);
  });

  it('is not noted of a schedule, which Metacontroller writes', async () => {
    expect(await stored(gate({ passing: false }), gate({}), 'metacontroller')).toEqual({});
  });
});

describe('validate/rolloutgate', () => {
  const spec = { rolloutRef: { name: 'app' }, passing: true, approvals: { required: 2 } };
  const gate = (more: object = {}, annotations = {}, uid = 'u-1') => {
    const made = object('kuberik.com/v1alpha1', 'RolloutGate', 'prod', { ...spec, ...more });
    const status = { approvals: { required: 2, progress: '1/2 for 1.1.0' } };
    return { ...made, metadata: { ...made.metadata, uid, annotations }, status };
  };
  const app = object('kuberik.com/v1alpha1', 'Rollout', 'app', {});
  const AT = '2026-03-01T12:00:00Z';
  const remove = (old: ReturnType<typeof gate>, how: Partial<Write> = {}) =>
    send(validateRolloutGate, { old, at: AT, user: 'bob', objects: [app, old], ...how });

  it('reports on the Rollout who deleted a gate with approvals, once it is gone', async () => {
    const { allowed, events, facts } = await remove(gate());
    expect(allowed).toBe(true);
    expect(events).toMatchObject([
      {
        type: 'Warning',
        reason: 'ApprovalsChanged',
        regarding: { kind: 'Rollout', metadata: { name: 'app' } },
        message: "bob deleted RolloutGate 'prod', which required 2 approvals; approvals until then: 1/2 for 1.1.0",
        involvedObjects: [{ kind: 'Rollout', name: 'app' }],
      },
    ]);
    expect(facts).toMatchObject([{ object: { resource: 'rolloutgates', name: 'prod' }, uid: 'u-1', gone: true }]);
  });

  it('reports on the gate itself if its Rollout does not exist', async () => {
    const old = gate();
    const { events } = await remove(old, { objects: [old] });
    expect(events).toMatchObject([{ regarding: { kind: 'RolloutGate' }, reason: 'ApprovalsChanged' }]);
  });

  it('reports a change just before, which no hook may have seen', async () => {
    const change = { number: 1, by: 'bob', at: AT, fields: [{ path: 'approvals.required', from: '2' }] };
    const record = { [`${P}approvals`]: JSON.stringify({ given: [], changes: [change] }) };
    const { events } = await remove(gate({ approvals: undefined }, record));
    expect(events).toMatchObject([
      { regarding: { kind: 'RolloutGate' }, message: `bob changed spec.approvals.required from 2 to none at ${AT}` },
    ]);
  });

  it('reports the stored gate, whatever the request has', async () => {
    const stored = gate();
    const change = { number: 1, by: 'alice', at: AT, fields: [{ path: 'approvals.required', from: '9' }] };
    const record = { [`${P}approvals`]: JSON.stringify({ given: [], changes: [change] }) };
    const forged = gate({ rolloutRef: { name: 'victim' }, approvals: { required: 9 } }, record);
    const victim = object('kuberik.com/v1alpha1', 'Rollout', 'victim', {});
    const { events } = await remove(forged, { objects: [app, victim, stored] });
    expect(events).toMatchObject([
      {
        regarding: { kind: 'Rollout', metadata: { name: 'app' } },
        message: "bob deleted RolloutGate 'prod', which required 2 approvals; approvals until then: 1/2 for 1.1.0",
      },
    ]);
  });

  it('reports both users of two requests, and each deletion', async () => {
    const keysOf = async (how: Partial<Write>, old = gate()) =>
      (await remove(old, { objects: [app, old], ...how })).events.map(({ key }) => key);
    const keys = [await keysOf({}), await keysOf({ user: 'alice' }), await keysOf({}, gate({}, {}, 'u-2'))].flat();
    expect(new Set(keys).size).toBe(3);
    expect(await keysOf({})).toEqual([keys[0]]);
  });

  it('names no user if the caller is unknown', async () => {
    const { events } = await remove(gate(), { settings: { authenticatesCallers: false } });
    expect(events).toMatchObject([
      {
        message:
          "RolloutGate 'prod', which required 2 approvals, was deleted; approvals until then: 1/2 for 1.1.0 " +
          "(the webhook doesn't authenticate its callers, so the user is only in the API server's audit log)",
      },
    ]);
    expect(events[0]!.key).not.toContain('bob');
  });

  it.each<[string, Partial<Write>]>([
    ['is only tried', { dryRun: true }],
    ['is not of what is stored', { objects: [app, gate({}, {}, 'u-2')] }],
    ['is of nothing that is there', { objects: [app] }],
    ['is the namespace controller’s', { user: 'system:serviceaccount:kube-system:namespace-controller' }],
  ])('tells nothing of a deletion that %s', async (_, how) => {
    expect(await remove(gate(), how)).toMatchObject({ allowed: true, events: [] });
  });
});
