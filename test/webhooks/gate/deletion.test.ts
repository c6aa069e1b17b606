import { describe, expect, it } from 'vitest';
import type { Gate } from '../../../api/types.ts';
import { mutateGate, validateGate } from '../../../webhooks/gate/gateAdmission.ts';
import { gate } from '../../core/gate/gate.ts';
import { objectOf } from '../../support/objects.ts';
import { write } from './call.ts';

const day = (time: string) => `2026-01-05T${time}Z`;

describe('DELETE of a Gate', () => {
  const binding = objectOf('FluxBinding', 'apps/kustomization-web', {
    spec: {
      target: { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', name: 'web', uid: 'u' },
      gates: [{ namespace: 'platform', gate: 'freeze' }],
    },
  });
  const rollout = objectOf('Rollout', 'platform/web', {
    spec: { releasesImagePolicy: {}, gates: [{ name: 'freeze' }] },
  });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'platform' } };
  const going = { ...namespace, metadata: { name: 'platform', deletionTimestamp: day('09:00:00') } };
  const closed = gate({ default: 'closed' });
  const remove = (old: Gate, more: object = {}) =>
    write(validateGate, { old, at: day('10:00:00'), objects: [binding, rollout, namespace, old], ...more });

  it('is denied while it is closed and holds objects, with these and the way out', async () => {
    const { allowed, message } = await remove(closed);
    expect(allowed).toBe(false);
    expect(message).toContain(
      "Gate 'platform/freeze' cannot be deleted: it is closed (Gate closed by default) and holds Rollout platform/web. Its",
    );
    expect(message).toContain('kubectl -n platform annotate --overwrite gate/freeze open.gate.fluxcd.io/requestedAt=');
  });

  it.each([
    ['it is open', remove(gate({ default: 'opened' }))],
    ['it holds nothing', remove(gate({ default: 'closed' }, undefined, { name: 'other' }))],
    ['its namespace is being deleted', remove(closed, { objects: [binding, going] })],
    [
      'the garbage collector asks',
      remove(closed, { user: 'system:serviceaccount:kube-system:generic-garbage-collector' }),
    ],
    [
      'the namespace controller asks',
      remove(closed, { user: 'system:serviceaccount:kube-system:namespace-controller' }),
    ],
  ])('is allowed when %s', async (_name, answer) => {
    expect(await answer).toMatchObject({ allowed: true, message: '' });
  });

  it('is allowed where others name it, of namespaces that it does not select: they stay closed, with a Warning', async () => {
    const requiredBy = [{ kind: 'Kustomization', namespace: 'apps', name: 'web' }];
    const answer = await remove({ ...closed, status: { requiredBy } }, { objects: [binding, namespace] });
    expect(answer).toMatchObject({ allowed: true });
    expect(answer.warnings).toEqual([
      'objects in other namespaces (1) name this Gate: they stay held until it exists again and is open',
    ]);
    expect(answer.warnings[0]!.length).toBeLessThanOrEqual(120);
  });

  it('is denied if it selects objects in other namespaces', async () => {
    const gates = [{ ...binding.spec!.gates![0]!, selected: true }];
    const selected = { ...binding, spec: { ...binding.spec!, gates } };
    const all = gate({ default: 'closed', selects: { namespaceSelector: {} } });
    expect((await remove(all, { objects: [selected, namespace] })).allowed).toBe(false);
    const selects = { kinds: ['Rollout' as const], namespaceSelector: {} };
    const other = { ...rollout, metadata: { name: 'web', namespace: 'apps' }, spec: { releasesImagePolicy: {} } };
    const freeze = gate({ default: 'closed', selects });
    expect((await remove(freeze, { objects: [other, namespace] })).allowed).toBe(false);
  });

  it('reads other namespaces only if the Gate may select objects there, and of their Rollouts the metadata', async () => {
    const reads = async (old: Gate) => {
      const { requests } = await remove(old, { objects: [namespace] });
      const read = requests.filter(({ verb }) => verb === 'pages');
      return read.map(({ resource, namespace, metadataOnly }) => ({ resource, namespace, metadataOnly }));
    };
    const own = { resource: 'rollouts', namespace: 'platform' };
    expect(await reads(closed)).toEqual([{ resource: 'fluxbindings', namespace: 'platform' }, own]);
    const selecting = gate({ default: 'closed', selects: { kinds: ['Rollout' as const], namespaceSelector: {} } });
    expect(await reads(selecting)).toEqual([
      { resource: 'fluxbindings' },
      own,
      { resource: 'rollouts', metadataOnly: true },
    ]);
  });

  it('of one with approvals is an Event with the user', async () => {
    const approving = gate({ default: 'closed', approvals: { required: 2 } });
    const stored = { ...approving, metadata: { ...approving.metadata, uid: 'u-1' } };
    const { events, facts } = await remove(stored, { user: 'bob', objects: [namespace, stored] });
    expect(events).toMatchObject([
      {
        type: 'Warning',
        reason: 'ApprovalsChanged',
        regarding: { kind: 'Gate', metadata: { name: 'freeze' } },
        message: "bob deleted Gate 'freeze', which required 2 approvals",
      },
    ]);
    expect(facts).toMatchObject([{ uid: 'u-1', gone: true }]);
    expect((await remove(stored, { user: 'bob', objects: [namespace, rollout, stored] })).events).toEqual([]);
  });

  const reasoned = async (user: string, at: string, may = [`${user} bypass`]) =>
    (
      await write(mutateGate, {
        old: closed,
        object: gate(closed.spec, { 'gate.fluxcd.io/bypass-reason': 'INC-7' }),
        user,
        at: day(at),
        may,
      })
    ).object as Gate;

  it('is allowed to a user who may bypass and has just given a reason, and is recorded', async () => {
    const answer = await remove(await reasoned('alice', '09:55:01'), { user: 'alice', may: ['alice bypass'] });
    expect(answer).toMatchObject({
      allowed: true,
      audit: { bypass: 'alice bypassed platform/freeze (DELETE): INC-7' },
    });
    expect(answer.events).toMatchObject([
      { reason: 'GateBypassed', message: 'alice bypassed platform/freeze (DELETE): INC-7' },
    ]);
  });

  it('is reported with the objects that it held', async () => {
    const requiredBy = [
      { kind: 'Kustomization', namespace: 'apps', name: 'web' },
      { kind: 'Rollout', namespace: 'platform', name: 'web' },
    ];
    const old = { ...(await reasoned('alice', '09:55:01')), status: { requiredBy } };
    const { events } = await remove(old, { user: 'alice', may: ['alice bypass'] });
    expect(events).toMatchObject([{ reason: 'GateBypassed', involvedObjects: requiredBy.toReversed() }]);
    expect(events[0]).not.toHaveProperty('forOthers');
  });

  it('a reason of a user who may not bypass the Gate, or on an open one, has no record', async () => {
    const by = async (answer: Promise<Gate>) => (await answer).metadata.annotations?.['gate.fluxcd.io/bypassed-by'];
    expect(await by(reasoned('alice', '09:59:00'))).toBe('2026-01-05T09:59:00Z alice');
    expect(await by(reasoned('alice', '09:59:00', []))).toBeUndefined();
    const open = gate({ default: 'opened' });
    const object = gate(open.spec, { 'gate.fluxcd.io/bypass-reason': 'INC-7' });
    const told = { old: open, object, user: 'alice', at: day('09:59:00'), may: ['alice bypass'] };
    expect(await by(write(mutateGate, told).then((answer) => answer.object as Gate))).toBeUndefined();
  });
});
