/** A reference to a missing Gate: allowed writes of it and of the Rollout. */
import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutStatus } from '../../../api/types.ts';
import { boundLabel } from '../../../core/binding/bindingSpec.ts';
import { validateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { object, rollout } from '../../hooks/rollout/call.ts';
import { admitted } from './call.ts';

const gates = [{ name: 'freeze' }];
const closed = object('gating.toolkit.fluxcd.io/v1alpha1', 'Gate', 'freeze', { default: 'closed' });
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } };
const record = (seen: boolean): RolloutStatus => ({
  observedGeneration: 1,
  namedGates: [{ gate: 'team-a/freeze', seen }],
});
const owned = (of: Rollout): Rollout => ({
  ...of,
  metadata: { ...of.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '1' }] },
});
const binding = {
  ...object('kuberik.com/v1alpha1', 'FluxBinding', 'web', {
    target: { kind: 'Kustomization', name: 'web' },
    fields: [{ rollout: 'app' }],
    gates: [{ namespace: 'team-a', gate: 'freeze' }],
  }),
  metadata: { namespace: 'team-a', name: 'web', labels: { [boundLabel('app')]: '' } },
};

const decide = (next: Rollout | undefined, old: Rollout | undefined, objects: AnyObject[] = []) =>
  admitted(validateRollout, { object: next, old }, { objects: [namespace, ...objects] });

describe.each<[string, (old: Rollout) => Rollout | undefined]>([
  ['taking the reference back', (old) => ({ ...old, spec: { ...old.spec, gates: [] } }) as Rollout],
  ['deleting the Rollout', () => undefined],
  ['an owner', owned],
])('%s', (_, next) => {
  const result = async (status: RolloutStatus, objects: AnyObject[] = []) => {
    const old = rollout({ gates }, status);
    return (await decide(next(old), old, objects)).allowed;
  };

  it('is allowed if such a Gate never existed', async () => {
    expect(await result(record(false))).toBe(true);
  });

  it.each<[string, RolloutStatus, AnyObject[]]>([
    ['there was one: it may be on its way to be created again', record(true), []],
    ['there is one by now', record(false), [closed]],
  ])('is denied where %s', async (__, status, objects) => {
    expect(await result(status, objects)).toBe(false);
  });
});

it('a bound object that names the same keeps the Rollout', async () => {
  const old = rollout({ gates }, record(false));
  expect((await decide(undefined, old, [binding])).allowed).toBe(false);
});

it('another closed Gate is not left with it', async () => {
  const old = rollout(
    { gates: [{ name: 'typo' }, ...gates] },
    {
      observedGeneration: 1,
      namedGates: [
        { gate: 'team-a/typo', seen: false },
        { gate: 'team-a/freeze', seen: true },
      ],
    },
  );
  expect((await decide(rollout({ gates }, old.status), old, [closed])).allowed).toBe(true);
  expect((await decide(rollout({ gates: [] }, old.status), old, [closed])).allowed).toBe(false);
});

describe('a write that names a Gate that does not exist', () => {
  const says = "spec.gates: Gate 'team-a/freeze' does not exist and counts as closed: create it";

  it('is a Warning', async () => {
    expect((await decide(rollout({ gates }), rollout())).warnings).toEqual([says]);
    expect((await decide(rollout({ gates }), undefined)).warnings).toEqual([says]);
  });

  it('is a Warning once, and none for a Gate that exists', async () => {
    expect((await decide(rollout({ gates, deployTimeout: '1m' }), rollout({ gates }))).warnings).toEqual([]);
    expect((await decide(rollout({ gates }), rollout(), [closed])).warnings).toEqual([]);
  });
});
