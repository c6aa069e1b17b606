/**
 * An owner reference that a Gate gets: with one, the garbage collector deletes the Gate, and no webhook denies that.
 */
import { expect, it } from 'vitest';
import type { Gate } from '../../../api/types.ts';
import { mutateGate, validateGate } from '../../../webhooks/gate/gateAdmission.ts';
import { gate } from '../../core/gate/gate.ts';
import { objectOf } from '../../support/objects.ts';
import { day, write } from './call.ts';

const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: '00000000-0000-0000-0000-000000000000' };
const rollout = objectOf('Rollout', 'platform/web', {
  spec: { releasesImagePolicy: {}, gates: [{ name: 'freeze' }] },
});
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'platform' } };
const owned = (old: Gate): Gate => ({ ...old, metadata: { ...old.metadata, ownerReferences: [gone] } });

const adds = (old: Gate, { object = owned(old), ...more }: { object?: Gate; [key: string]: unknown } = {}) =>
  write([mutateGate, validateGate], { old, object, at: day('10:00:00'), objects: [rollout, namespace, old], ...more });

it('is denied while the Gate is closed and holds objects, as its deletion is', async () => {
  const { allowed, message } = await adds(gate({ default: 'closed' }));
  expect(allowed).toBe(false);
  expect(message).toContain(
    "Gate 'platform/freeze' cannot get an owner reference, because the garbage collector could then delete it: it is " +
      'closed (Gate closed by default) and holds Rollout platform/web',
  );
});

it.each([
  ['it is open', gate({ default: 'opened' }), {}],
  ['it holds nothing', gate({ default: 'closed' }), { objects: [namespace] }],
  ['it has that owner already', owned(gate({ default: 'closed' })), {}],
])('is allowed when %s', async (_, old, more) => {
  expect(await adds(old, more)).toMatchObject({ allowed: true, message: '' });
});

it('warns about objects of other namespaces that name the Gate, which is still there', async () => {
  const elsewhere = { kind: 'Rollout', namespace: 'shop', name: 'web' };
  const old = { ...gate({ default: 'closed' }), status: { requiredBy: [elsewhere] } } as Gate;
  expect(await adds(old, { objects: [namespace] })).toMatchObject({
    allowed: true,
    warnings: [
      'if its owner is deleted, this Gate is too; objects in other namespaces (1) that name it then stay held',
    ],
  });
});
