/** A Gate that selects a Rollout, or an object bound to it, blocks writes that would bypass it. */
import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutSpec } from '../../../api/types.ts';
import { boundLabel } from '../../../core/binding/bindingSpec.ts';
import { validateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { rollout } from '../../hooks/rollout/call.ts';
import { freeze, selecting } from '../../hooks/rollout/sync.ts';
import { kubeObject, namespaceOf } from '../../support/objects.ts';
import { admitted } from './call.ts';

describe('validate/rollout, behind a closed Gate that selects it', () => {
  const selects = { labelSelector: { matchLabels: { tier: 'gold' } } };
  const weekend = selecting('weekend', 'closed', selects);
  const labelled = (labels: Record<string, string>, spec: Partial<RolloutSpec> = {}): Rollout => {
    const base = rollout(spec);
    return { ...base, metadata: { ...base.metadata, labels } };
  };
  const held = labelled({ tier: 'gold', app: 'a' });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', labels: { env: 'p' } } };
  const decide = (object: Rollout | undefined, old: Rollout, objects: AnyObject[] = [weekend], may = false) =>
    admitted(validateRollout, { object, old }, { objects: [...objects, namespace], may: may ? ['alice bypass'] : [] });

  it.each<[string, Rollout]>([
    ['leave the selection by a label', labelled({ tier: 'silver', app: 'a' })],
    ['leave it by no label at all', labelled({})],
    [
      'get an owner',
      {
        ...held,
        metadata: {
          ...held.metadata,
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: '1' }],
        },
      },
    ],
  ])('denies to %s, and says how to open it', async (_, next) => {
    expect(await decide(next, held)).toMatchObject({
      allowed: false,
      message: expect.stringMatching(
        /Gate 'team-a\/weekend' is closed[\s\S]*To open Gate team-a\/weekend:\n {2}kubectl -n team-a annotate/,
      ),
    });
    expect(await decide(next, held, [selecting('weekend', 'opened', selects)])).toMatchObject({ allowed: true });
  });

  it('denies it too where a Gate of another namespace selects it by its Namespace', async () => {
    const central = selecting(
      'weekend',
      'closed',
      { ...selects, namespaceSelector: { matchLabels: { env: 'p' } } },
      'ops',
    );
    expect(await decide(labelled({}), held, [central])).toMatchObject({
      allowed: false,
      message: expect.stringContaining("Gate 'ops/weekend' is closed"),
    });
  });

  it.each<[string, Rollout, Rollout]>([
    ['other labels', labelled({ tier: 'gold', app: 'b' }), held],
    ['a change of the spec', labelled({ tier: 'gold', app: 'a' }, { wantedVersion: '1.0.0' }), held],
    ['to enter the selection', held, labelled({})],
    [
      'no name where it is selected anyway',
      held,
      labelled({ tier: 'gold', app: 'a' }, { gates: [{ name: 'weekend' }] }),
    ],
    ['no label where it is named anyway', labelled({}, { gates: [{ name: 'weekend' }] }), held],
  ])('allows %s', async (_, next, old) => {
    expect(await decide(next, old)).toMatchObject({ allowed: true });
  });

  it('denies the removal of any label if there are more Gates than are read', async () => {
    const many = Array.from({ length: 1001 }, (_, i) => selecting(`g-${i}`, 'opened'));
    expect(await decide(labelled({ tier: 'gold' }), held, many)).toMatchObject({ allowed: false });
    expect(await decide(labelled({ tier: 'gold', app: 'a' }, { bakeTime: '1m' }), held, many)).toMatchObject({
      allowed: true,
    });
  });

  it('reads no Gate for a write that drops none', async () => {
    const next = labelled({ tier: 'gold', app: 'a' }, { bakeTime: '1m' });
    expect(await decide(next, held)).toMatchObject({ allowed: true, reads: [] });
  });
});

it('a Gate that has just begun to select a bound object, and that its FluxBinding lacks, denies the deletion', async () => {
  const object = kubeObject('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'team-a/app', {
    metadata: { uid: 'u', annotations: { 'rollout.kuberik.com/substitute.APP.from': 'app' } },
  });
  const binding = kubeObject('kuberik.com/v1alpha1', 'FluxBinding', 'team-a/kustomization-app', {
    metadata: { labels: { [boundLabel('app')]: '' } },
    spec: { target: { kind: 'Kustomization', name: 'app', uid: 'u' }, fields: [{ rollout: 'app' }] },
  });
  const { metadata, spec, ...gate } = freeze('new', 'closed');
  const labels = { 'gate.fluxcd.io/selects': 'own-namespace' };
  const selects = { ...gate, metadata: { ...metadata, labels }, spec: { ...spec, selects: {} } };
  const objects = [selects, object, binding, namespaceOf('team-a')];
  expect(await admitted(validateRollout, { old: rollout({}) }, { objects })).toMatchObject({
    allowed: false,
    message: expect.stringContaining("Gate 'team-a/new' is closed"),
  });
});
