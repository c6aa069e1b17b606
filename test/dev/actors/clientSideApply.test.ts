import { describe, expect, it } from 'vitest';
import { mergePatchForApply, withLastApplied } from '../../../dev/actors/clientSideApply.ts';

const manifest = (spec: Record<string, unknown>) => ({
  apiVersion: 'x/v1',
  kind: 'X',
  metadata: { name: 'a', namespace: 'n' },
  spec,
});

describe("kubectl's three-way apply", () => {
  it.each([
    { name: 'nothing changed', last: { a: 1 }, live: { a: 1, defaulted: true }, wanted: { a: 1 }, spec: { a: 1 } },
    { name: 'a new value', last: { a: 1 }, live: { a: 1 }, wanted: { a: 2 }, spec: { a: 2 } },
    { name: 'a value somebody else changed', last: { a: 1 }, live: { a: 5 }, wanted: { a: 1 }, spec: { a: 1 } },
    { name: 'a field left out', last: { a: 1, b: 1 }, live: { a: 1, b: 1 }, wanted: { a: 1 }, spec: { a: 1, b: null } },
    { name: 'a field of somebody else', last: { a: 1 }, live: { a: 1, b: 1 }, wanted: { a: 1 }, spec: { a: 1 } },
    { name: 'lists are replaced', last: { l: [1] }, live: { l: [1, 2] }, wanted: { l: [1] }, spec: { l: [1] } },
  ])('$name', ({ last, live, wanted, spec }) => {
    const stored = { ...withLastApplied(manifest(last)), spec: live };
    expect(mergePatchForApply(stored, withLastApplied(manifest(wanted))).spec).toEqual(spec);
  });
});
