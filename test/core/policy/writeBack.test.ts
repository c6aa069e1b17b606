import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImagePolicy } from '../../../api/flux.ts';
import type { Rollout } from '../../../api/types.ts';
import { derivedPolicy } from '../../../core/policy/derivedPolicy.ts';
import { policyRules } from '../../../core/policy/rules.ts';
import { objectOf } from '../../support/objects.ts';

const rollout = (tag: unknown, writeBack: object | null = { imagePolicy: 'web-deployed' }): Rollout =>
  objectOf('Rollout', 'shop/web', {
    metadata: { uid: 'uid-web' },
    spec: { releasesImagePolicy: { name: 'web' }, ...(writeBack && { writeBack }) } as Rollout['spec'],
    status: { history: tag === undefined ? [] : [{ id: 1, version: { tag: tag as string }, timestamp: '' }] },
  });
const source = (spec: object = {}, namespace = 'shop'): ImagePolicy =>
  objectOf('ImagePolicy', `${namespace}/web`, {
    spec: { imageRepositoryRef: { name: 'web' }, policy: { semver: { range: '*' } }, ...spec },
  });
const before = objectOf('ImagePolicy', 'shop/web-deployed', {
  metadata: { uid: 'uid-derived', resourceVersion: '7' },
  spec: { imageRepositoryRef: { name: 'web' }, filterTags: { pattern: '^1\\.0\\.0$' } },
  status: { latestRef: { name: 'web', tag: '1.0.0' } },
});
const specOf = (...parts: Parameters<typeof source>) =>
  derivedPolicy({ rollout: rollout('1.0.0'), imagePolicy: source(...parts) })?.spec;

describe('the derived ImagePolicy', () => {
  it('selects the deployed tag of the same ImageRepository, in the namespace of the Rollout', () => {
    expect(derivedPolicy({ rollout: rollout('1.0.0'), imagePolicy: source() })).toEqual({
      apiVersion: 'image.toolkit.fluxcd.io/v1',
      kind: 'ImagePolicy',
      metadata: { name: 'web-deployed', namespace: 'shop', labels: { 'rollout.kuberik.com/rollout-name': 'web' } },
      spec: {
        imageRepositoryRef: { name: 'web' },
        filterTags: { pattern: '^1\\.0\\.0$' },
        policy: { alphabetical: { order: 'asc' } },
      },
    });
  });

  it('selects no other tag, whatever the two are', () => {
    const tag = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,20}$/);
    const near = fc
      .tuple(tag, fc.nat(20), fc.constantFrom('', 'x', '.', '1'))
      .map(([from, at, by]) => ({ from, to: `${from.slice(0, at)}${by}${from.slice(at + 1)}` }));
    fc.assert(
      fc.property(near, ({ from, to }) => {
        const rules = policyRules(derivedPolicy({ rollout: rollout(from), imagePolicy: source() }));
        expect(rules.rejection(from)).toBeUndefined();
        expect(rules.rejection(to) === undefined).toBe(to === from);
      }),
    );
  });

  it('reflects digests as the source policy does, and copies nothing else from it', () => {
    expect(
      specOf({ digestReflectionPolicy: 'Always', interval: '10m', suspend: true, filterTags: { extract: '$1' } }),
    ).toEqual({
      imageRepositoryRef: { name: 'web' },
      filterTags: { pattern: '^1\\.0\\.0$' },
      policy: { alphabetical: { order: 'asc' } },
      digestReflectionPolicy: 'Always',
      interval: '10m',
    });
    expect(specOf({ digestReflectionPolicy: { a: 1 }, interval: 'x'.repeat(65) })).not.toHaveProperty('interval');
  });

  it('names the namespace of an ImageRepository that is in another one', () => {
    expect(specOf({}, 'images')?.imageRepositoryRef).toEqual({ namespace: 'images', name: 'web' });
    const repository = { name: 'web', namespace: 'central' };
    expect(specOf({ imageRepositoryRef: repository })?.imageRepositoryRef).toEqual(repository);
  });

  const unknown: [why: string, tag: unknown, imagePolicy: ImagePolicy | undefined][] = [
    ['nothing is deployed', undefined, source()],
    ['the head is no tag', 'a|.*', source()],
    ['the head has no tag', 7, source()],
    ['the source policy is gone', '1.1.0', undefined],
    ['the source policy names no repository', '1.1.0', source({ imageRepositoryRef: undefined })],
    ['the source policy names what cannot exist', '1.1.0', source({ imageRepositoryRef: { name: 'x'.repeat(254) } })],
  ];
  it.each(unknown)('stays as it is, or is not made, where %s', (_, tag, imagePolicy) => {
    const now = { rollout: rollout(tag), imagePolicy };
    expect(derivedPolicy(now)).toBeUndefined();
    const { name, namespace } = before.metadata;
    expect(derivedPolicy({ ...now, derivedPolicy: before })).toEqual({
      apiVersion: before.apiVersion,
      kind: 'ImagePolicy',
      metadata: { name, namespace, labels: { 'rollout.kuberik.com/rollout-name': 'web' } },
      spec: before.spec,
    });
  });

  it('is deleted with spec.writeBack', () => {
    const now = { rollout: rollout('1.0.0', null), imagePolicy: source(), derivedPolicy: before };
    expect(derivedPolicy(now)).toBeUndefined();
  });
});
