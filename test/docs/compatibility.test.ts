/** Each quirk of the Go controller has a row, and the tests that show quirks and differences exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { FluxObject } from '../../api/flux.ts';
import type { ClusterRolloutSchedule, Rollout } from '../../api/types.ts';
import { setManagedFields } from '../../core/admission/managedFields/setManagedFields.ts';
import { planSchedule } from '../../core/schedule/schedulePlan.ts';
import { ROOT } from './tables.ts';

/** Test file → its cases. */
type Proof = Record<string, string[]>;
const read = (file: string) => parse(readFileSync(join(ROOT, file), 'utf8'));
const differences: Record<string, { shownBy: Proof }> = read('docs/reference/differences.yaml');
const quirks: Record<string, { shownBy: Proof }> = read('docs/reference/quirks.yaml');
const proofs = Object.entries({ ...differences, ...quirks }).map(([id, { shownBy }]) => [id, shownBy] as const);

describe('docs/reference/quirks.md', () => {
  it('has a quirk for each of Q1 to Q36', () => {
    expect(Object.keys(quirks)).toEqual(Array.from({ length: 36 }, (_, i) => `Q${i + 1}`));
  });

  it.each(proofs)('%s: the tests that show it are there', (_, shownBy) => {
    expect(Object.keys(shownBy).length).toBeGreaterThan(0);
    for (const [file, cases] of Object.entries(shownBy)) {
      expect(cases.length, `${file} without a case`).toBeGreaterThan(0);
      for (const text of cases) expect(readFileSync(join(ROOT, file), 'utf8'), `${file}: ${text}`).toContain(text);
    }
  });
});

it('Q1: every variable of a Rollout on one Kustomization gets its version', () => {
  const app: Rollout = {
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'Rollout',
    metadata: { name: 'app', namespace: 'apps', uid: 'u' },
    status: { history: [{ id: 2, version: { tag: '1.1.0' }, timestamp: '2026-01-01T00:00:00Z' }] },
  };
  const from = (variable: string) => `rollout.kuberik.com/substitute.${variable}.from`;
  const object: FluxObject = {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'app', namespace: 'apps', annotations: { [from('A')]: 'app', [from('B')]: 'app' } },
    spec: { postBuild: { substitute: { A: '1.0.0', REGION: 'eu-1' } } },
  };
  const stored = setManagedFields({ object, rollouts: new Map([['app', app]]) }).object;
  expect(stored.spec?.postBuild).toEqual({ substitute: { A: '1.1.0', B: '1.1.0', REGION: 'eu-1' } });
});

it('Q31: a Rollout that matches no longer has no gate any more, and Metacontroller deletes what is left out', () => {
  const schedule: ClusterRolloutSchedule = {
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'ClusterRolloutSchedule',
    metadata: { name: 'freeze', uid: 'u' },
    spec: { rolloutSelector: {}, namespaceSelector: { matchLabels: { env: 'prod' } }, rules: [{}] },
  };
  const inNamespaces = (...namespaces: string[]) => ({
    listed: namespaces.map((namespace) => ({ namespace, name: 'app' })),
    isTruncated: false,
  });
  const now = Date.parse('2026-01-01T00:00:00Z');
  const both = planSchedule(schedule, inNamespaces('one', 'two'), [], now).gates;
  const left = planSchedule(schedule, inNamespaces('two'), both, now).gates;
  expect(left).toEqual(both.slice(1));
});
