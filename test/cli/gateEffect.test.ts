/** `--wait` of open and close: an object counts as held, or as released, by its own annotations. */
import { describe, expect, it } from 'vitest';
import { type Effect, effectOn } from '../../cli/write/awaitGate.ts';
import { objectOf } from '../support/objects.ts';

const GATE = { key: 'shop/incident', closure: 'close-1' };

function kustomization(suspend: boolean | undefined, state?: string, remembered?: string) {
  const annotations = {
    ...(state && { 'gate.fluxcd.io/state': state }),
    ...(remembered && { 'gate.fluxcd.io/suspended': remembered }),
  };
  return objectOf('Kustomization', {
    metadata: { namespace: 'shop', name: 'web', annotations },
    spec: { ...(suspend !== undefined && { suspend }) },
  } as never);
}

function rollout(...closed: string[]) {
  const gates = [{ name: 'qa', passing: false }, ...closed.map((name) => ({ kind: 'Gate', name, passing: false }))];
  return objectOf('Rollout', { metadata: { namespace: 'shop', name: 'app' }, status: { gates } } as never);
}

type Case = [why: string, object: object, effect: Effect];

describe('behind a closed Gate', () => {
  it.each<Case>([
    ['nobody has looked at it', kustomization(undefined), 'moving'],
    ['held by another one so far', kustomization(true, 'closed: shop/other', 'unset'), 'moving'],
    ['held by it', kustomization(true, 'closed: shop/incident,shop/other', 'unset'), 'held'],
    ['bypassed', kustomization(false, 'bypassed: shop/incident@close-1'), 'free'],
    ['bypassed before it closed again', kustomization(false, 'bypassed: shop/incident@close-0'), 'moving'],
    ['bypassing for one deployment', kustomization(false, 'bypassing: shop/incident@close-1'), 'free'],
    ['a Rollout that does not say so yet', rollout(), 'moving'],
    ['a Rollout that says so', rollout('shop/incident'), 'held'],
    ['held by a limit, beyond which no Gate is evaluated', kustomization(true, 'closed: (too-many)', 'unset'), 'held'],
    ['a Rollout that a limit holds', rollout('(too-many-rollouts)'), 'held'],
  ])('%s', (_, object, effect) => {
    expect(effectOn(object as never, { ...GATE, isOpen: false })).toBe(effect);
  });
});

describe('behind an open Gate', () => {
  it.each<Case>([
    ['resumed', kustomization(undefined, 'open'), 'free'],
    ['still suspended for it', kustomization(true, 'closed: shop/incident', 'unset'), 'moving'],
    ['its applier has to come first', kustomization(true, 'opening: 2026-11-22T08:00:00.000Z', 'unset'), 'moving'],
    ['another Gate holds it', kustomization(true, 'closed: shop/other', 'unset'), 'held'],
    ['suspended by hand', kustomization(true, 'open'), 'held'],
    ['its artifact has to come first', kustomization(true, 'open', 'unset'), 'moving'],
    ['a Rollout that does not say so yet', rollout('shop/incident'), 'moving'],
    ['a Rollout behind another one', rollout('shop/other'), 'held'],
    ['a Rollout that goes on', rollout(), 'free'],
    ['held by a limit', kustomization(true, 'closed: (too-many)', 'unset'), 'held'],
  ])('%s', (_, object, effect) => {
    expect(effectOn(object as never, { ...GATE, isOpen: true })).toBe(effect);
  });
});
