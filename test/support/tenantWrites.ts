/**
 * Writes of a tenant on a governed object: names with a meaning to us, odd characters, and sizes up to the API server's
 * limit.
 */
import fc from 'fast-check';
import { anyText } from './anyText.ts';

/** The largest total of annotations that aren't ours: 131,072 bytes. */
const MOST = 131_072;

export const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  anyText({ maxLength: 20 }),
  fc.constantFrom(
    '__proto__',
    'a/b/c',
    ',,,,',
    '(too-many)',
    'ops/freeze',
    'open',
    'closed: x',
    'bypassing: ops/freeze',
    'bypassed: ops/freeze',
    'opening: x',
  ),
  fc.integer({ min: 1, max: 400 }).map((count) => Array.from({ length: count }, (_, i) => `gate-${i}`).join()),
);
const OURS = ['gates', 'selected-by', 'bypassed-by', 'bypass-reason', 'suspended'].map(
  (key) => `gate.fluxcd.io/${key}`,
);
const key = fc.oneof(
  fc.constantFrom(
    ...OURS,
    'rollout.kuberik.com/deployed',
    'rollout.kuberik.com/rollout',
    'rollout.kuberik.com/artifact',
  ),
  fc.nat(80).map((i) => `rollout.kuberik.com/substitute.V${i}.from`),
  fc.nat(9).map((i) => `x/${i}`),
);
export const labels = fc.dictionary(
  fc.constantFrom('kustomize.toolkit.fluxcd.io/name', 'kustomize.toolkit.fluxcd.io/namespace', 'app'),
  fc.constantFrom('apps', 'flux-system', 'shop', 'web'),
);
/** Annotations, in some cases filled up to the limit. */
export const annotations = fc
  .record({ written: fc.dictionary(key, text, { maxKeys: 90 }), padding: fc.constantFrom(0, 10, MOST) })
  .map(({ written, padding }) => {
    const size = Object.entries(written).flat().join('').length;
    return padding > size ? { ...written, 'x/padding': 'y'.repeat(Math.max(0, padding - size - 9)) } : written;
  });
