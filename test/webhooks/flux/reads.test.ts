/** Reads of the webhook for a write of a Flux object, in either of its calls. */
import { expect, it } from 'vitest';
import { mutateFlux, validateFlux } from '../../../webhooks/flux/fluxAdmission.ts';
import { gate, kustomization } from '../../core/admission/objects.ts';
import { send } from './call.ts';

const following = (rollout: string, state?: string) =>
  kustomization({
    annotations: {
      'rollout.kuberik.com/substitute.APP.from': rollout,
      'gate.fluxcd.io/gates': 'freeze',
      ...(state && { 'gate.fluxcd.io/state': state }),
    },
    substitute: { APP: '1.0.0' },
    spec: { sourceRef: { kind: 'OCIRepository', name: 'apps' }, suspend: true },
  });

const moves = { object: following('next'), oldObject: following('before') };
const held = following('before', 'closed: shop/freeze');
const edits = { object: { ...held, spec: { ...held.spec, path: './next' } }, oldObject: held };
const selection = ['gates/*', 'gates/freeze', 'namespaces/shop'];

it.each([
  [
    'the Gates, the source, and the Rollouts of both versions',
    mutateFlux,
    moves,
    'opened',
    [...selection, 'ocirepositories/apps', 'rollouts/before', 'rollouts/next'],
  ],
  [
    'when it is checked again, no selection and no source',
    validateFlux,
    moves,
    'opened',
    ['gates/freeze', 'rollouts/before', 'rollouts/next'],
  ],
  ['of an object that a closed Gate holds, no Rollout', mutateFlux, edits, 'closed', selection],
  ['and none when it is checked again', validateFlux, edits, 'closed', ['gates/freeze']],
])('%s', async (_, handler, write, state, expected) => {
  const { reads } = await send(handler, write, { objects: [gate('shop/freeze', { default: state as 'opened' })] });
  expect([...new Set(reads)].sort()).toEqual(expected);
});
