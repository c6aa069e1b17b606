/** Writes of Flux objects: whoever may update an object of their own may send these. */
import { gate, type Input, kustomization, nested, object, review, rollout, sync, text, times, WRITE } from './input.ts';

/** A Gate that does not exist counts as closed. */
const CLOSED = { 'gate.fluxcd.io/gates': 'absent' };
const PREPARED = { ...CLOSED, 'gate.fluxcd.io/state': 'closed: shop/absent', 'gate.fluxcd.io/suspended': 'unset' };
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const variables = (count: number, value: string) => Object.fromEntries(times(count, (i) => [`V${i}`, `${value}${i}`]));

/** An update of an object behind a closed gate. */
function heldUpdate(before: object, after: object, annotations: Record<string, string> = {}): Input {
  const metadata = { annotations: { ...PREPARED, ...annotations } };
  const old = kustomization({ metadata, spec: { suspend: true, ...before } });
  return { paths: WRITE, body: review(kustomization({ metadata, spec: { suspend: true, ...after } }), old) };
}

function substituted(count: number): Input {
  const configuration = JSON.stringify({ spec: { padding: text(200), postBuild: { substitute: {} } } });
  const postBuild = (value: string) => ({ postBuild: { substitute: variables(count, value) } });
  return heldUpdate(postBuild('a'), postBuild('b'), { [LAST_APPLIED]: configuration });
}

const helmRelease = (values: unknown) =>
  object('helm.toolkit.fluxcd.io/v2', 'HelmRelease', {
    metadata: { annotations: PREPARED },
    spec: { interval: '10m', suspend: true, values },
  });

const values = (before: unknown, after: unknown): Input => ({
  paths: WRITE,
  body: review(helmRelease(after), helmRelease(before)),
});

const annotated = (annotations: Record<string, string>): Input => {
  const metadata = { annotations: { ...CLOSED, ...annotations } };
  return {
    paths: WRITE,
    body: review(kustomization({ metadata, spec: { path: './new' } }), kustomization({ metadata })),
  };
};

const names = (count: number, prefix = 'g') => times(count, (i) => `${prefix}${i}`).join(',');
const managedFields = (count: number) =>
  Object.fromEntries(times(count, (i) => [`rollout.kuberik.com/substitute.V${i}.from`, `r${i}`]));
const keys = (count: number) => Object.fromEntries(times(count, (i) => [`key-${i}`, `${i}`]));

export const FLUX: Record<string, () => Input> = {
  '500 changed variables beside 200 kB of last-applied': () => substituted(500),
  '2,000 changed variables beside 200 kB of last-applied': () => substituted(2000),
  '60 managed fields, gates open, beside 200 kB of last-applied': () => {
    const configuration = JSON.stringify({
      spec: { padding: text(200), postBuild: { substitute: variables(60, 'a') } },
    });
    const metadata = { annotations: { ...managedFields(60), [LAST_APPLIED]: configuration } };
    const spec = (value: string) => ({ postBuild: { substitute: variables(60, value) } });
    const history = [{ id: 1, version: { tag: 'c' }, timestamp: '2026-03-04T09:00:00Z' }];
    return {
      paths: WRITE,
      body: review(kustomization({ metadata, spec: spec('b') }), kustomization({ metadata, spec: spec('a') })),
      world: times(60, (i) => rollout({ metadata: { name: `r${i}` }, status: { history } })),
    };
  },
  'values 1,000 deep with 50,000 keys at the bottom': () =>
    values(nested(1000, {}), nested(1000, Object.fromEntries(times(50_000, (i) => [`k${i}`, i])))),
  'values 2,000 deep': () => values(nested(2000, 1), nested(2000, 2)),
  '50,000 keys that all change': () =>
    values(
      Object.fromEntries(times(50_000, (i) => [`k${i}`, 0])),
      Object.fromEntries(times(50_000, (i) => [`k${i}`, 1])),
    ),
  'lists of 20,000 objects that all change': () =>
    values(
      times(20_000, (i) => ({ name: `a${i}`, at: i })),
      times(20_000, (i) => ({ name: `b${i}`, at: -i })),
    ),
  '3 MB before and 3 MB after': () => values({ text: text(3072, 'a') }, { text: text(3072, 'b') }),
  '10,000 respelt durations': () => {
    const spelt = (value: string) => Object.fromEntries(times(10_000, (i) => [`timeout${i}`, value]));
    return heldUpdate(spelt('10m'), spelt('10m0s'));
  },
  '200 gates before, 200 others after, and 60 Rollouts': () => {
    const metadata = (prefix: string) => ({
      annotations: { ...managedFields(60), 'gate.fluxcd.io/gates': names(200, prefix) },
    });
    return {
      paths: WRITE,
      body: review(kustomization({ metadata: metadata('a') }), kustomization({ metadata: metadata('b') })),
    };
  },
  '200 selecting Gates and one more that is closed': () => {
    const labels = { 'gate.fluxcd.io/selects': '' };
    const open = times(200, (i) =>
      gate({ metadata: { namespace: 'aaa', name: `g${i}`, labels }, spec: { selects: { namespaceSelector: {} } } }),
    );
    const freeze = gate({
      metadata: { namespace: 'w2', name: 'freeze', labels },
      spec: { default: 'closed', selects: { namespaceSelector: {} } },
    });
    const selected = [...open, freeze].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(',');
    const metadata = { annotations: { 'gate.fluxcd.io/selected-by': selected } };
    return {
      paths: WRITE,
      body: review(kustomization({ metadata, spec: { path: './new' } }), kustomization({ metadata })),
      world: [
        ...open,
        freeze,
        object('v1', 'Namespace', { metadata: { name: 'shop', namespace: undefined } as never }),
      ],
    };
  },
  '256 kB of gates': () => annotated({ 'gate.fluxcd.io/gates': names(40_000) }),
  '256 kB of selected-by': () => annotated({ 'gate.fluxcd.io/selected-by': names(40_000) }),
  '256 kB of text that names no gate': () => annotated({ 'gate.fluxcd.io/gates': text(250, '!/,') }),
  '256 kB of managed fields': () => annotated(managedFields(4000)),
  '256 kB of Rollouts for one managed field': () =>
    annotated({ 'rollout.kuberik.com/substitute.A.from': names(40_000, 'r') }),
  '256 kB of deployments': () =>
    annotated({ 'rollout.kuberik.com/deployed': times(9000, (i) => `r${i}=${i}/1.0.0/uid-${i}`).join(',') }),
  '256 kB of state': () => annotated({ 'gate.fluxcd.io/state': `closed: ${names(40_000)}` }),
  '256 kB of last-applied, deeply nested': () =>
    annotated({ [LAST_APPLIED]: `${'{"a":'.repeat(45_000)}1${'}'.repeat(45_000)}` }),
  '256 kB of a reason for a bypass': () => annotated({ 'gate.fluxcd.io/bypass-reason': text(250) }),
  '10,000 labels': () => {
    const metadata = (count: number) => ({ annotations: PREPARED, labels: keys(count) });
    return {
      paths: WRITE,
      body: review(kustomization({ metadata: metadata(10_000) }), kustomization({ metadata: metadata(9000) })),
    };
  },
  '2,000 entries of managedFields': () => {
    const managedFields = times(2000, (i) => ({
      manager: `m${i}`,
      operation: 'Apply',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:postBuild': { 'f:substitute': { [`f:V${i}`]: {} } } } },
    }));
    const metadata = { annotations: PREPARED, managedFields };
    const spec = (value: string) => ({ suspend: true, postBuild: { substitute: variables(2000, value) } });
    return {
      paths: WRITE,
      body: review(kustomization({ metadata, spec: spec('b') }), kustomization({ metadata, spec: spec('a') })),
    };
  },
  '10,000 owner references': () => {
    const owners = (prefix: string) =>
      times(10_000, (i) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `${prefix}${i}`, uid: `${prefix}${i}` }));
    const metadata = (prefix: string) => ({ annotations: PREPARED, ownerReferences: owners(prefix) });
    return {
      paths: WRITE,
      body: review(kustomization({ metadata: metadata('a') }), kustomization({ metadata: metadata('b') })),
    };
  },
  'a decorator sync with 2,000 selecting Gates': () => {
    const selects = {
      namespaceSelector: {},
      labelSelector: { matchExpressions: [{ key: 'a', operator: 'NotIn', values: times(20, (i) => `v${i}`) }] },
    };
    const labels = { 'gate.fluxcd.io/selects': '' };
    const gates = times(2000, (i) =>
      gate({ metadata: { namespace: `ns${i % 50}`, name: `g${i}`, labels }, spec: { selects } }),
    );
    const namespace = object('v1', 'Namespace', { metadata: { name: 'shop', namespace: undefined } as never });
    return {
      paths: ['/hooks/flux/sync'],
      body: sync('object', kustomization({ metadata: { annotations: CLOSED } }), [...gates, namespace]),
    };
  },
  'a revision of 1.4 MB': () => {
    const source = object('source.toolkit.fluxcd.io/v1', 'OCIRepository', {
      metadata: {
        generation: 1,
        annotations: { 'rollout.kuberik.com/rollout': 'app', 'rollout.kuberik.com/deployed': 'app=1/1.0.0/u' },
      },
      spec: { url: 'oci://registry.example/app', ref: { tag: '1.0.0' } },
      status: {
        observedGeneration: 1,
        artifact: { revision: `1.0.0@${text(1400)}` },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
    return { paths: ['/hooks/flux/sync'], body: sync('object', source) };
  },
};
