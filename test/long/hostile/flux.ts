/** Writes of Flux objects that any tenant may send for an object of its own. */
import { gate, type Input, kustomization, nested, object, rollout, synced, text, times, written } from './input.ts';

/** A Gate that does not exist counts as closed. */
const CLOSED = { 'gate.fluxcd.io/gates': 'absent' };
const PREPARED = { ...CLOSED, 'gate.fluxcd.io/state': 'closed: shop/absent', 'gate.fluxcd.io/suspended': 'unset' };
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const variables = (count: number, value: string) => Object.fromEntries(times(count, (i) => [`V${i}`, `${value}${i}`]));

const substituted = (count: number, value: string) => ({ postBuild: { substitute: variables(count, value) } });
const padded = (count: number) => JSON.stringify({ spec: { padding: text(200), ...substituted(count, 'a') } });

/** An update of an object behind a closed gate. */
function heldUpdate(before: object, after: object, annotations: Record<string, string> = {}): Input {
  const metadata = { annotations: { ...PREPARED, ...annotations } };
  const [old, next] = [before, after].map((spec) => kustomization({ metadata, spec: { suspend: true, ...spec } }));
  return written('flux', next!, old);
}

const changedVariables = (count: number) =>
  heldUpdate(substituted(count, 'a'), substituted(count, 'b'), { [LAST_APPLIED]: padded(0) });

const helmRelease = (values: unknown) =>
  object('helm.toolkit.fluxcd.io/v2', 'HelmRelease', {
    metadata: { annotations: PREPARED },
    spec: { interval: '10m', suspend: true, values },
  });

const values = (before: unknown, after: unknown) => written('flux', helmRelease(after), helmRelease(before));

/** Metadata changes, and nothing else. */
const moved = (before: object, after: object) =>
  written('flux', kustomization({ metadata: after }), kustomization({ metadata: before }));

const annotated = (annotations: Record<string, string>): Input => {
  const metadata = { annotations: { ...CLOSED, ...annotations } };
  return written('flux', kustomization({ metadata, spec: { path: './new' } }), kustomization({ metadata }));
};

const names = (count: number, prefix = 'g') => times(count, (i) => `${prefix}${i}`).join(',');
const managedFields = (count: number) =>
  Object.fromEntries(times(count, (i) => [`rollout.kuberik.com/substitute.V${i}.from`, `r${i}`]));
const keys = (count: number) => Object.fromEntries(times(count, (i) => [`key-${i}`, `${i}`]));
const numbers = (value: (i: number) => number) => Object.fromEntries(times(50_000, (i) => [`k${i}`, value(i)]));
const SELECTS = { 'gate.fluxcd.io/selects': '' };
const shop = object('v1', 'Namespace', { metadata: { name: 'shop', namespace: undefined } as never });

export const FLUX: Record<string, () => Input> = {
  '500 changed variables beside 200 kB of last-applied': () => changedVariables(500),
  '2,000 changed variables beside 200 kB of last-applied': () => changedVariables(2000),
  '60 managed fields, gates open, beside 200 kB of last-applied': () => {
    const metadata = { annotations: { ...managedFields(60), [LAST_APPLIED]: padded(60) } };
    const history = [{ id: 1, version: { tag: 'c' }, timestamp: '2026-03-04T09:00:00Z' }];
    const [next, old] = ['b', 'a'].map((value) => kustomization({ metadata, spec: substituted(60, value) }));
    return written(
      'flux',
      next!,
      old,
      times(60, (i) => rollout({ metadata: { name: `r${i}` }, status: { history } })),
    );
  },
  'values 1,000 deep with 50,000 keys at the bottom': () =>
    values(
      nested(1000, {}),
      nested(
        1000,
        numbers((i) => i),
      ),
    ),
  'values 2,000 deep': () => values(nested(2000, 1), nested(2000, 2)),
  '50,000 keys that all change': () =>
    values(
      numbers(() => 0),
      numbers(() => 1),
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
    return moved(metadata('b'), metadata('a'));
  },
  '200 selecting Gates and one more that is closed': () => {
    const selects = { namespaceSelector: {} };
    const open = times(200, (i) =>
      gate({ metadata: { namespace: 'aaa', name: `g${i}`, labels: SELECTS }, spec: { selects } }),
    );
    const metadataOfFreeze = { namespace: 'w2', name: 'freeze', labels: SELECTS };
    const freeze = gate({ metadata: metadataOfFreeze, spec: { default: 'closed', selects } });
    const selected = [...open, freeze].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(',');
    const metadata = { annotations: { 'gate.fluxcd.io/selected-by': selected } };
    const [next, old] = [{ path: './new' }, {}].map((spec) => kustomization({ metadata, spec }));
    return written('flux', next!, old, [...open, freeze, shop]);
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
    const [before, after] = [9000, 10_000].map((count) => ({ annotations: PREPARED, labels: keys(count) }));
    return moved(before!, after!);
  },
  '2,000 entries of managedFields': () => {
    const entries = times(2000, (i) => ({
      manager: `m${i}`,
      operation: 'Apply',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:postBuild': { 'f:substitute': { [`f:V${i}`]: {} } } } },
    }));
    const metadata = { annotations: PREPARED, managedFields: entries };
    const spec = (value: string) => ({ suspend: true, ...substituted(2000, value) });
    return written('flux', kustomization({ metadata, spec: spec('b') }), kustomization({ metadata, spec: spec('a') }));
  },
  '10,000 owner references': () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap' };
    const [before, after] = ['b', 'a'].map((prefix) => ({
      annotations: PREPARED,
      ownerReferences: times(10_000, (i) => ({ ...owner, name: `${prefix}${i}`, uid: `${prefix}${i}` })),
    }));
    return moved(before!, after!);
  },
  'a decorator sync with 2,000 selecting Gates': () => {
    const matchExpressions = [{ key: 'a', operator: 'NotIn', values: times(20, (i) => `v${i}`) }];
    const spec = { selects: { namespaceSelector: {}, labelSelector: { matchExpressions } } };
    const gates = times(2000, (i) =>
      gate({ metadata: { namespace: `ns${i % 50}`, name: `g${i}`, labels: SELECTS }, spec }),
    );
    return synced('flux', kustomization({ metadata: { annotations: CLOSED } }), [...gates, shop]);
  },
  'a revision of 1.4 MB': () => {
    const annotations = { 'rollout.kuberik.com/rollout': 'app', 'rollout.kuberik.com/deployed': 'app=1/1.0.0/u' };
    const source = object('source.toolkit.fluxcd.io/v1', 'OCIRepository', {
      metadata: { generation: 1, annotations },
      spec: { url: 'oci://registry.example/app', ref: { tag: '1.0.0' } },
      status: {
        observedGeneration: 1,
        artifact: { revision: `1.0.0@${text(1400)}` },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
    return synced('flux', source);
  },
};
