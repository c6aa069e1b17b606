/** What a closed Gate holds, whatever the object carries and follows. */
import { describe, expect, it } from 'vitest';
import { mutateFlux, validateFlux } from '../../../webhooks/flux/flux.ts';
import { gate, kustomization } from '../../core/hold/objects.ts';
import { send } from './call.ts';

const closed = gate('shop/freeze');

describe('a Gate that selects the object and has not marked it yet', () => {
  const all = gate('ops/all', { selects: { namespaceSelector: {} } });
  const stored = kustomization({ annotations: {} });

  it('refuses an edit', async () => {
    const object = kustomization({ annotations: {}, spec: { path: './evil' } });
    const answer = await send(mutateFlux, { object, oldObject: stored }, { objects: [all] });
    expect(answer).toMatchObject({ allowed: false, message: expect.stringContaining("gate 'ops/all' is closed") });
  });

  it('holds an apply, and suspends the object in it', async () => {
    const object = kustomization({ annotations: {}, spec: { path: './next' } });
    object.metadata.managedFields = [
      { manager: 'kustomize-controller', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:path': {} } } },
    ];
    const options = { fieldManager: 'kustomize-controller' };
    const answer = await send(mutateFlux, { object, oldObject: stored, options }, { objects: [all] });
    expect(answer.object?.spec).toEqual({ ...stored.spec, suspend: true });
    expect(answer.object?.metadata.annotations).toMatchObject({ 'gate.fluxcd.io/selected-by': 'ops/all' });
  });

  it.each([
    ['finalizers', { finalizers: ['dev.example/a'] }],
    ['managedFields', { managedFields: [{ manager: 'm-1', operation: 'Apply' as const, fieldsV1: { 'f:spec': {} } }] }],
  ])('suspends it in a write of its %s alone: many of them would keep a decorator from it', async (_, change) => {
    const object = { ...stored, metadata: { ...stored.metadata, ...change } };
    const answer = await send(mutateFlux, { object, oldObject: stored }, { objects: [all] });
    expect(answer.object?.spec?.suspend).toBe(true);
    expect(answer.object?.metadata).toMatchObject(change);
  });

  it('refuses a deletion of an object that carries something of ours', async () => {
    const bound = kustomization({ annotations: { 'rollout.kuberik.com/substitute.APP.from': 'my-app' } });
    const answer = await send(validateFlux, { oldObject: bound }, { objects: [all, gate('x/y'), terminatingNot] });
    expect(answer.allowed).toBe(false);
  });
});

it('a Gate that opens between two calls for one write leaves the object as it was', async () => {
  const all = gate('ops/all', { selects: { namespaceSelector: {} } });
  const oldObject = kustomization({ annotations: {}, spec: { suspend: false } });
  const object = { ...oldObject, metadata: { ...oldObject.metadata, finalizers: ['dev.example/a'] } };
  const first = await send(mutateFlux, { object, oldObject }, { objects: [all] });
  expect(first.object?.spec?.suspend).toBe(true);
  const second = await send(mutateFlux, { object: first.object!, oldObject }, { objects: [] });
  expect(second.object?.spec?.suspend).toBe(false);
  expect(second.object?.metadata.annotations ?? {}).toEqual({});
});

const terminatingNot = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: {} } };

describe('what holds an object', () => {
  const followed = { 'rollout.kuberik.com/substitute.APP.from': 'my-app', 'gate.fluxcd.io/gates': 'freeze' };

  it('does not wait for its Rollouts, which may be too many or too large to be read', async () => {
    const oldObject = kustomization({ annotations: followed, substitute: { APP: '1.0.0' } });
    const annotations = { ...oldObject.metadata.annotations, 'gate.fluxcd.io/state': 'closed: shop/freeze' };
    const object = { ...oldObject, metadata: { ...oldObject.metadata, annotations } };
    for (const handler of [mutateFlux, validateFlux]) {
      const answer = await send(
        handler,
        { object: { ...object, spec: { ...object.spec, suspend: true } }, oldObject },
        { objects: [closed], broken: ['rollouts'] },
      );
      expect(answer.allowed).toBe(true);
    }
  });
});
