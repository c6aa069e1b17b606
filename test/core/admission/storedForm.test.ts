/** A typed Go client writes durations in Go's form. */
import { describe, expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import { decide, gatesByName, NOW, rolloutsByName } from './objects.ts';

type Spec = Record<string, unknown>;

const write = (kind: string, spec: Spec, annotations: Record<string, string> = {}): FluxObject => ({
  apiVersion: kind === 'HelmRelease' ? 'helm.toolkit.fluxcd.io/v2' : 'kustomize.toolkit.fluxcd.io/v1',
  kind,
  metadata: {
    name: 'web',
    namespace: 'shop',
    annotations: {
      'gate.fluxcd.io/gates': 'missing',
      'gate.fluxcd.io/suspended': 'unset',
      'gate.fluxcd.io/state': 'closed: shop/missing',
      ...annotations,
    },
    managedFields: [{ manager: 'dashboard', operation: 'Update', fieldsV1: { 'f:spec': {} } }],
  },
  spec: { suspend: true, ...spec },
});

function decided(kind: string, before: Spec, after: Spec) {
  return decide({
    object: write(kind, after, { 'reconcile.fluxcd.io/requestedAt': 'now' }),
    old: write(kind, before),
    context: { rollouts: rolloutsByName(), gates: gatesByName(), now: NOW },
    user: 'dashboard',
  });
}

const alike: [kind: string, before: Spec, after: Spec][] = [
  ['Kustomization', { interval: '10m' }, { interval: '10m0s' }],
  ['Kustomization', { interval: '60m', timeout: '90s' }, { interval: '1h0m0s', timeout: '1m30s' }],
  ['Kustomization', { retryInterval: '0.5h' }, { retryInterval: '30m0s' }],
  ['Kustomization', { wait: false, force: false, path: '', dependsOn: [] }, {}],
  ['Kustomization', { postBuild: { substitute: {}, substituteFrom: [] } }, { postBuild: {} }],
  [
    'Kustomization',
    { postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'a', optional: false }] } },
    { postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'a' }] } },
  ],
  [
    'HelmRelease',
    { install: { timeout: '300s', remediation: { retries: 0 } } },
    { install: { timeout: '5m0s', remediation: {} } },
  ],
  ['HelmRelease', { chart: { spec: { interval: '5m', valuesFiles: [] } } }, { chart: { spec: { interval: '5m0s' } } }],
  ['HelmRepository', { type: 'oci' }, { type: 'oci', interval: '0s' }],
];

it.each(alike)('%s %j sent back as %j is stored as it was, with the new annotation', (kind, before, after) => {
  const outcome = decided(kind, before, after);
  expect(outcome.denial).toBeUndefined();
  expect(outcome).toMatchObject({ warnings: [] });
  if (outcome.denial !== undefined) return;
  expect(outcome.object.spec).toEqual({ suspend: true, ...before });
  expect(outcome.object.metadata.annotations?.['reconcile.fluxcd.io/requestedAt']).toBe('now');
});

it('a Git sync that changes only the form changes nothing, and gets no Warning', () => {
  const [before, after] = ['10m', '10m0s'].map((interval) => {
    const object = write('Kustomization', { interval });
    const managedFields = [
      { manager: 'kustomize-controller', operation: 'Apply' as const, fieldsV1: { 'f:spec': { 'f:interval': {} } } },
    ];
    return { ...object, metadata: { ...object.metadata, managedFields } };
  });
  const outcome = decide({
    object: after!,
    old: before!,
    context: { rollouts: rolloutsByName(), gates: gatesByName(), now: NOW },
    user: 'flux',
    fieldManager: 'kustomize-controller',
    isSync: true,
  });
  expect(outcome).toMatchObject({ object: { spec: before!.spec }, warnings: [] });
});

describe('is refused all the same:', () => {
  it.each<[kind: string, before: Spec, after: Spec, path: string]>([
    ['Kustomization', { interval: '10m' }, { interval: '10m1s' }, 'spec.interval'],
    ['Kustomization', { interval: '10m' }, { interval: 'ten minutes' }, 'spec.interval'],
    ['Kustomization', { timeout: '0s' }, {}, 'spec.timeout'],
    ['Kustomization', { prune: false }, {}, 'spec.prune'],
    ['Kustomization', { wait: true }, {}, 'spec.wait'],
    ['Kustomization', { wait: false }, { wait: true }, 'spec.wait'],
    ['Kustomization', { suspend: true }, { suspend: false }, 'spec.suspend'],
    [
      'Kustomization',
      { postBuild: { substitute: { A: '1h' } } },
      { postBuild: { substitute: { A: '60m' } } },
      'spec.postBuild.substitute.A',
    ],
    ['Kustomization', { postBuild: { substitute: { A: '' } } }, { postBuild: {} }, 'spec.postBuild.substitute.A'],
    ['HelmRelease', { maxHistory: 0 }, {}, 'spec.maxHistory'],
    ['HelmRelease', { values: { enabled: false } }, { values: {} }, 'spec.values.enabled'],
    ['HelmRelease', { values: { interval: '10m' } }, { values: { interval: '10m0s' } }, 'spec.values.interval'],
    [
      'HelmRelease',
      { install: { remediation: { ignoreTestFailures: false } } },
      { install: { remediation: {} } },
      'spec.install.remediation.ignoreTestFailures',
    ],
    ['Kustomization', { interval: '10m', path: './a' }, { interval: '10m0s', path: './b' }, 'spec.path'],
  ])('%s %j sent as %j', (kind, before, after, path) => {
    const { denial } = decided(kind, before, after);
    expect(denial).toContain(`(${path})`);
  });
});
