import { describe, expect, it } from 'vitest';
import { adoptedEntry, deploymentsCarriedBy } from '../../../../core/rollout/deployment/entry.ts';
import { kubeObject } from '../../../support/objects.ts';
import { NOW } from '../observedFixture.ts';

const NO_BAKE = { bakes: false, knownHealth: undefined };
const P = 'rollout.kuberik.com/';
const DEPLOYED = { [`${P}deployed`]: 'app=7/1.0.0/old-uid,other=3/2.0.0/uid-2' };

const carriedOn = (kind: string, annotations: Record<string, string>) =>
  deploymentsCarriedBy([kubeObject('v1', kind, 'obj', { metadata: { annotations } })], 'app')[0];

describe('a carried deployment', () => {
  it.each<[string, string, Record<string, string>]>([
    ['a variable', 'Kustomization', { [`${P}substitute.TAG.from`]: 'app' }],
    ['the older pair', 'Kustomization', { [`${P}rollout`]: 'app', [`${P}substitute`]: 'TAG' }],
    ['the tag', 'OCIRepository', { [`${P}rollout`]: 'app' }],
  ])('counts on an object bound by %s', (_title, kind, marks) => {
    expect(carriedOn(kind, { ...marks, ...DEPLOYED })).toEqual({
      deployment: { rollout: 'app', id: 7, version: '1.0.0', uid: 'old-uid' },
      by: `${kind} 'obj'`,
    });
  });

  it.each<[string, string, Record<string, string>]>([
    ['on an object bound to another Rollout', 'OCIRepository', { [`${P}rollout`]: 'other', ...DEPLOYED }],
    ['on half of the older pair', 'Kustomization', { [`${P}rollout`]: 'app', ...DEPLOYED }],
    [
      'without a deployment of this Rollout',
      'OCIRepository',
      { [`${P}rollout`]: 'app', [`${P}deployed`]: 'x=1/1.0.0/u' },
    ],
    ['with a version that is no tag', 'OCIRepository', { [`${P}rollout`]: 'app', [`${P}deployed`]: 'app=1/a%2Fb/u' }],
  ])('does not count %s', (_title, kind, annotations) => {
    expect(carriedOn(kind, annotations)).toBeUndefined();
  });
});

describe('adopted', () => {
  const carried = (id: number, version: string, by: string) => ({
    deployment: { rollout: 'app', id, version, uid: 'u' },
    by,
  });

  it('takes the newest of conflicting deployments, with the release’s metadata', () => {
    const known = [{ tag: '1.1.0', revision: 'abc' }];
    const entry = adoptedEntry(
      [carried(6, '1.0.0', 'a'), carried(7, '1.1.0', 'b'), carried(5, '1.2.0', 'c')],
      known,
      NO_BAKE,
      NOW,
    );
    expect(entry).toMatchObject({
      id: 7,
      version: known[0],
      message: 'Adopted from b, which already had this version',
      bakeStatus: 'Succeeded',
    });
  });

  it('leaves out when the release was first seen: a deployment in the history does not carry it', () => {
    const known = [{ tag: '1.0.0', firstSeen: '2026-03-01T10:00:00Z' }];
    expect(adoptedEntry([carried(1, '1.0.0', 'a')], known, NO_BAKE, NOW).version).toEqual({ tag: '1.0.0' });
  });

  it('adds an id that the history lacks', () => {
    expect(adoptedEntry([carried(0, '1.0.0', 'a')], [], NO_BAKE, NOW).id).toBe(1);
  });

  it('begins with 1 if the id is too large: otherwise the next deployment couldn’t be written', () => {
    const head = adoptedEntry([carried(999_999_999_999_999, '1.0.0', 'a')], [], NO_BAKE, NOW);
    expect(head).toMatchObject({ id: 1, version: { tag: '1.0.0' } });
    expect(adoptedEntry([carried(41, '1.0.0', 'a')], [], NO_BAKE, NOW)).toMatchObject({ id: 41 });
  });
});
