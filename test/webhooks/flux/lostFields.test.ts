/** A write of a held object in a version that Flux serves beside the one it stores. */
import { expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import { mutateFlux } from '../../../webhooks/flux/fluxAdmission.ts';
import { gate, kustomization } from '../../core/admission/objects.ts';
import { send, type Write } from '../../support/admission.ts';

const held = (more: Record<string, string> = {}, spec: Record<string, unknown> = {}): FluxObject =>
  kustomization({
    annotations: {
      'gate.fluxcd.io/gates': 'freeze',
      'gate.fluxcd.io/suspended': 'unset',
      'gate.fluxcd.io/state': 'closed: shop/freeze',
      ...more,
    },
    spec: { suspend: true, ...spec },
  });
const older = (...of: Parameters<typeof held>): FluxObject => ({
  ...held(...of),
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1beta2',
});
const NOTE = { note: 'x' };
const DEFAULT = { force: false };
const finalized = older();
finalized.metadata = { ...finalized.metadata, finalizers: ['dev.example/a'] };
const noted = { object: older(NOTE), oldObject: older() };
const bypassing = { object: older({ 'gate.fluxcd.io/bypass-reason': 'INC-1' }), user: { username: 'admin' } };
const closed = gate('shop/freeze');
const opened = gate('shop/freeze', { default: 'opened' });
const stored = held({}, { wait: true });

it.each<[title: string, write: Write, objects: any[], denied: boolean]>([
  ['is denied if that version drops a field', noted, [closed, stored], true],
  ['is denied if it changes only finalizers', { object: finalized, oldObject: older() }, [closed, stored], true],
  ['adds a default', { object: older(NOTE, DEFAULT), oldObject: older({}, DEFAULT) }, [closed, held()], false],
  ['has no stored object any more', noted, [closed], false],
  ['is as the stored one', noted, [closed, held()], false],
  ['is no longer held', noted, [opened, stored], false],
  ['bypasses the Gate', { ...noted, ...bypassing }, [closed, stored], false],
  ['is in the stored version', { object: held(NOTE), oldObject: held() }, [closed, stored], false],
])('%s', async (_, write, objects, denied) => {
  const answer = await send(mutateFlux, write, { objects, may: ['admin bypass shop/freeze'] });
  expect(answer.allowed).toBe(!denied);
  if (denied)
    expect(answer.message).toContain(
      'v1beta2, which drops or changes spec.wait (use kustomize.toolkit.fluxcd.io/v1): Gate',
    );
});
