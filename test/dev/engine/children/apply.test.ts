import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../api/kubernetes.ts';
import { applyUpdate, LAST_APPLIED, withLastApplied } from '../../../../dev/engine/children/apply.ts';

const desired: KubeObject = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'b' },
  spec: { v: 1 },
};

/** The object that the API server would return after the creation of `withLastApplied(desired, desired)`. */
function stored(): KubeObject {
  const created = withLastApplied(desired, desired);
  const server = { uid: 'u1', resourceVersion: '7', generation: 1, creationTimestamp: '2030-01-01T00:00:00Z' };
  return { ...created, metadata: { ...created.metadata, ...server }, status: { ready: true } };
}

describe('applying a desired object', () => {
  it('changes nothing when the object was stored as it was wanted', () => {
    expect(isDeepStrictEqual(applyUpdate(stored(), desired), stored())).toBe(true);
  });

  it.each([
    [
      'system fields',
      { ...desired, metadata: { ...desired.metadata, uid: 'u2', resourceVersion: '1', generation: 9 } },
    ],
    ['status', { ...desired, status: { ready: false } }],
  ])('writes no %s', (_what, wanted) => {
    const changed = applyUpdate(stored(), wanted);
    expect(changed.status).toEqual({ ready: true });
    expect(changed.metadata).toMatchObject({ uid: 'u1', resourceVersion: '7', generation: 1 });
  });

  it('leaves the last-applied annotation out of itself', () => {
    const echoed = {
      ...desired,
      metadata: { ...desired.metadata, annotations: { [LAST_APPLIED]: 'anything', a: 'b' } },
    };
    const remembered = applyUpdate(stored(), echoed).metadata.annotations?.[LAST_APPLIED] ?? '';
    expect(JSON.parse(remembered).metadata.annotations).toEqual({ a: 'b' });
  });

  it.each([
    ['labels: {}', { ...desired, metadata: { ...desired.metadata, labels: {} } }],
    ['a null', { ...desired, spec: { v: 1, gone: null } }],
  ])('%s is written again at every sync, as the real one does', (_what, wanted) => {
    const written = applyUpdate(stored(), wanted);
    const { labels: _dropped, ...metadata } = written.metadata;
    const asStored: KubeObject = { ...written, metadata, spec: { v: 1 } };
    expect(isDeepStrictEqual(applyUpdate(asStored, wanted), asStored)).toBe(false);
  });

  it('names the object with an invalid annotation', () => {
    const broken = stored();
    broken.metadata.annotations = { [LAST_APPLIED]: '{' };
    expect(() => applyUpdate(broken, desired)).toThrow(`Thing b/a: annotation ${LAST_APPLIED} is not a JSON object`);
  });
});
