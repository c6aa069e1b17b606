import { describe, expect, it } from 'vitest';
import type { FluxObject, ImagePolicy } from '../../../api/flux.ts';
import type { Rollout } from '../../../api/types.ts';
import { type ClusterAdoptionContext, unboundObjects } from '../../../client/board/adoptViews.ts';
import { objectOf } from '../../support/objects.ts';

const object = (kind: string, name: string, spec: object, annotations: object = {}, namespace = 'shop'): FluxObject =>
  objectOf(kind as 'Kustomization', { metadata: { namespace, name, annotations }, spec } as never) as FluxObject;

const policy = (name: string, tag: string, namespace = 'shop'): ImagePolicy =>
  objectOf('ImagePolicy', {
    metadata: { namespace, name },
    spec: { imageRepositoryRef: { name }, policy: { semver: { range: '>=0.0.0' } } },
    status: { latestRef: { name: `registry.example.com/${name}`, tag } },
  } as never);

const around = (more: Partial<ClusterAdoptionContext> = {}): ClusterAdoptionContext => ({
  policies: [policy('checkout', '1.4.0')],
  repositories: [],
  rollouts: [],
  ...more,
});

const runs = (version: string) => ({ postBuild: { substitute: { VERSION: version } } });

describe('objects without a Rollout', () => {
  it('shows the running version and its source, adoptable ones first, then by name and kind', () => {
    const names = ['b-cluster', 'a-cluster'].map((name) => object('Kustomization', name, {}));
    const repository = object('OCIRepository', 'b-cluster', {});
    const objects = [repository, ...names, object('Kustomization', 'checkout', runs('1.4.0'))];
    const found = unboundObjects(objects, around());
    expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'Kustomization checkout',
      'Kustomization a-cluster',
      'Kustomization b-cluster',
      'OCIRepository b-cluster',
    ]);
    expect(found.slice(0, 2)).toEqual([
      { kind: 'Kustomization', namespace: 'shop', name: 'checkout', found: { version: '1.4.0', rollout: 'checkout' } },
      {
        kind: 'Kustomization',
        namespace: 'shop',
        name: 'a-cluster',
        problem: expect.stringContaining('sets no variable to a version'),
      },
    ]);
  });

  it('leaves out objects with a binding annotation', () => {
    const bound = object('Kustomization', 'checkout', runs('1.4.0'), {
      'rollout.kuberik.com/substitute.VERSION.from': 'checkout',
    });
    const follower = object('HelmRelease', 'checkout', {}, { 'rollout.kuberik.com/rollout': 'checkout' });
    expect(unboundObjects([bound, follower], around())).toEqual([]);
  });

  it('matches policies and Rollouts of its own namespace', () => {
    const elsewhere = object('Kustomization', 'checkout', runs('1.4.0'), {}, 'other');
    expect(unboundObjects([elsewhere], around())[0]?.problem).toContain('No ImagePolicy of namespace other');
    const rollout = objectOf('Rollout', {
      metadata: { namespace: 'shop', name: 'checkout' },
      spec: { releasesImagePolicy: { name: 'checkout' } },
      status: { history: [{ version: { tag: '2.0.0' } }] },
    } as never) as Rollout;
    const [here] = unboundObjects(
      [object('Kustomization', 'checkout', runs('1.4.0'))],
      around({ rollouts: [rollout] }),
    );
    expect(here?.problem).toContain('binding it would change what runs');
  });

  it.each<[string, FluxObject[], RegExp]>([
    ['goes with its OCIRepository', [], /adopt OCIRepository shop\/charts/],
    [
      'is bound to the Rollout of its chart',
      [object('OCIRepository', 'charts', { ref: { tag: '1.4.0' } }, { 'rollout.kuberik.com/rollout': 'checkout' })],
      /annotate --field-manager=rollouts-cli helmrelease\/checkout rollout.kuberik.com\/rollout=checkout/,
    ],
  ])('a HelmRelease %s', (_, sources, advice) => {
    const release = object('HelmRelease', 'checkout', { chartRef: { kind: 'OCIRepository', name: 'charts' } });
    expect(unboundObjects([release, ...sources], around()).find(({ kind }) => kind === 'HelmRelease')?.problem).toMatch(
      advice,
    );
  });

  it('reports that a HelmRelease with a chart of a HelmRepository can’t be adopted', () => {
    const release = object('HelmRelease', 'checkout', { chart: { spec: { chart: 'checkout' } } });
    expect(unboundObjects([release], around())[0]?.problem).toMatch(/no Rollout can set its version/);
  });
});
