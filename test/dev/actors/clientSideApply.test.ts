import { describe, expect, it } from 'vitest';
import { mergePatchForApply, withLastApplied } from '../../../dev/actors/clientSideApply.ts';

const manifest = (spec: Record<string, unknown>) => ({
  apiVersion: 'x/v1',
  kind: 'X',
  metadata: { name: 'a', namespace: 'n' },
  spec,
});
const annotation = (object: any) => object.metadata.annotations['kubectl.kubernetes.io/last-applied-configuration'];

describe("kubectl's three-way apply", () => {
  it.each([
    { name: 'nothing changed', last: { a: 1 }, live: { a: 1, defaulted: true }, wanted: { a: 1 }, spec: { a: 1 } },
    { name: 'a new value', last: { a: 1 }, live: { a: 1 }, wanted: { a: 2 }, spec: { a: 2 } },
    { name: 'a value somebody else changed', last: { a: 1 }, live: { a: 5 }, wanted: { a: 1 }, spec: { a: 1 } },
    { name: 'a field left out', last: { a: 1, b: 1 }, live: { a: 1, b: 1 }, wanted: { a: 1 }, spec: { a: 1, b: null } },
    { name: 'a field of somebody else', last: { a: 1 }, live: { a: 1, b: 1 }, wanted: { a: 1 }, spec: { a: 1 } },
    {
      name: 'inside a map',
      last: { m: { x: 1, y: 1 } },
      live: { m: { x: 1, y: 1, z: 1 } },
      wanted: { m: { x: 2 } },
      spec: { m: { x: 2, y: null } },
    },
    { name: 'lists are replaced', last: { l: [1] }, live: { l: [1, 2] }, wanted: { l: [1] }, spec: { l: [1] } },
  ])('$name', ({ last, live, wanted, spec }) => {
    const stored = { ...withLastApplied(manifest(last)), spec: live };
    expect(mergePatchForApply(stored, withLastApplied(manifest(wanted))).spec).toEqual(spec);
  });

  it('sets the annotation', () => {
    const applied = withLastApplied(manifest({ a: 1 }));
    const changed = withLastApplied(manifest({ a: 2 }));
    expect(annotation(mergePatchForApply(applied, changed))).toBe(annotation(changed));
  });
});
