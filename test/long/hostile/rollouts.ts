/** Rollouts, bindings and HealthChecks. */
import { gate, type Input, kustomization, object, review, rollout, synced, text, times, written } from './input.ts';

const KUBERIK = 'kuberik.com/v1alpha1';
const AT = '2026-03-01T00:00:00Z';
const VALIDATION = ['/admission/validate/rollout'];

const imagePolicy = (tag: string, spec: object = {}) =>
  object('image.toolkit.fluxcd.io/v1', 'ImagePolicy', {
    spec: { imageRepositoryRef: { name: 'web' }, policy: { semver: { range: '*' } }, ...spec },
    status: { latestRef: { name: 'registry.example/web', tag } },
  });

const deployed = (tag: string, id = 1) => ({ id, version: { tag }, timestamp: AT, bakeStatus: 'Succeeded' });

/** A sync in which tags are ordered by a pattern of the ImagePolicy's author. */
function extracted(pattern: string, tags: string[]): Input {
  const policy = { policy: { alphabetical: { order: 'asc' } }, filterTags: { pattern, extract: '$0' } };
  const status = { revision: 1, history: [deployed(tags[0]!)], availableReleases: tags.map((tag) => ({ tag })) };
  return synced('rollout', rollout({ status }), [imagePolicy(tags[1]!, policy)]);
}

const versions = (count: number) => times(count, (i) => ({ tag: `1.${i}.0`, revision: 'abc' }));

const withHistory = (count: number, head = `1.${count - 1}.0`, more: object = {}) => {
  const history = times(count, (i) => deployed(`1.${count - 1 - i}.0`, count - i));
  return rollout({
    spec: { versionHistoryLimit: count },
    status: {
      revision: 1,
      ...(count > 0 && { history: [{ ...history[0], version: { tag: head } }, ...history.slice(1)] }),
      availableReleases: versions(count),
      ...more,
    },
  });
};

const rolloutGate = (i: number, spec: object) =>
  object(KUBERIK, 'RolloutGate', { metadata: { name: `g${i}` }, spec: { rolloutRef: { name: 'web' }, ...spec } });

const released = (count: number) => ({
  status: { revision: 1, history: [deployed('1.0.0')], availableReleases: versions(count) },
});

/** Objects with as many claims as fit into their annotations. No Rollout gets any of the variables. */
const contested = (count: number) => {
  const names = times(40, (i) => `r-${i}`).join(',');
  const annotations = Object.fromEntries(times(500, (i) => [`rollout.kuberik.com/substitute.V${i}.from`, names]));
  return times(count, (i) => kustomization({ metadata: { name: `k${i}`, uid: `u${i}`, annotations } }));
};

/** The deletion of one of many objects that are all bound to the same Rollouts, and require the same missing Gates. */
function bound(count: number, gates = 0): Input {
  const names = times(64, (i) => `r-${i}`);
  const claims = names.map((name, i) => [`rollout.kuberik.com/substitute.A${i}.from`, name]);
  const required = times(gates, (i) => `gate-${i}`).join(',');
  const annotations = { ...Object.fromEntries(claims), ...(gates > 0 && { 'gate.fluxcd.io/gates': required }) };
  const objects = times(count, (i) => kustomization({ metadata: { name: `k${i}`, uid: `u${i}`, annotations } }));
  const stored = [...objects, ...names.map((name) => rollout({ metadata: { name } }))];
  return { paths: ['/admission/validate/flux'], body: review(null, objects[0]), stored };
}

export const ROLLOUTS: Record<string, () => Input> = {
  'a pattern with 40 alternations': () =>
    extracted(`^(?:${'(a|a)'.repeat(40)}b|a+[xy])$`, [`${'a'.repeat(40)}x`, `${'a'.repeat(40)}y`]),
  'a pattern with 18 optional alternations': () =>
    extracted(`^${'(a|aa)?'.repeat(18)}$`, [`${'a'.repeat(40)}x`, `${'a'.repeat(40)}y`]),
  'a pattern with nested repetition': () => extracted('^(a*)*(a+)+$', [`${'a'.repeat(100)}x`, `${'a'.repeat(100)}y`]),
  'a pattern of 100 kB over 1,000 tags': () =>
    extracted(
      `^(?:${text(100, 'ab|')}z)-(?P<n>.*)$`,
      times(1000, (i) => `z-${i}`),
    ),
  '10,000 releases, all candidates': () => synced('rollout', rollout(released(10_000)), [imagePolicy('1.9999.0')]),
  '5,000 deployments in the history': () => synced('rollout', withHistory(5000), [imagePolicy('1.4999.0')]),
  '200 RolloutGates, each with 500 versions, 2,000 candidates': () => {
    const listed = {
      allowedVersions: times(500, (j) => `1.${j}.1`),
      rejectedVersions: times(500, (j) => `1.${j}.2`),
    };
    const gates = times(200, (i) => rolloutGate(i, listed));
    return synced('rollout', rollout(released(2000)), [imagePolicy('1.1999.0'), ...gates], gates);
  },
  '20 stages with 200 deployments each, 1,000 candidates': () => {
    const after = times(20, (i) => ({ name: `s${i}`, bakedFor: '1h', match: 'digest' }));
    const history = times(200, (i) => ({
      ...deployed(`1.${i}.0`),
      version: { tag: `1.${i}.0`, digest: `sha256:${i}` },
    }));
    const stages = times(20, (i) => object(KUBERIK, 'Rollout', { metadata: { name: `s${i}` }, status: { history } }));
    return synced(
      'rollout',
      rollout({ spec: { after }, ...released(1000) }),
      [imagePolicy('1.999.0'), ...stages],
      stages,
    );
  },
  'a Rollout after 200 others, each after 20 of them': () => {
    const stored = times(200, (i) => {
      const after = times(20, (j) => ({ name: `s${Math.min(199, i + 1 + j)}` }));
      return object(KUBERIK, 'Rollout', { metadata: { name: `s${i}` }, spec: { after } });
    });
    return { paths: VALIDATION, body: review(rollout({ spec: { after: [{ name: 's0' }] } })), stored };
  },
  '2,000 HealthChecks': () => {
    const status = { status: 'Unhealthy', message: text(0.2) };
    const checks = times(2000, (i) => object(KUBERIK, 'HealthCheck', { metadata: { name: `h${i}` }, status }));
    const about = withHistory(2, '1.0.0');
    const spec = { ...about.spec, healthCheckSelector: { selector: {} }, bakeTime: '5m' };
    return synced('rollout', { ...about, spec }, [imagePolicy('1.1.0'), ...checks]);
  },
  'times too long for 64 bits of nanoseconds': () => {
    const spec = { bakeTime: '9999999h', deployTimeout: '9999999h', releaseUpdateInterval: '9999999h' };
    const history = [{ ...deployed('1.0.0'), bakeStatus: 'InProgress', bakeStartTime: AT }];
    const status = { revision: 1, history, availableReleases: versions(2) };
    return synced('rollout', rollout({ spec, status }), [imagePolicy('1.1.0')]);
  },
  'a write of the status with 5,000 deployments': () => {
    const old = withHistory(5000);
    const { revision: _, ...status } = old.status;
    const body = review({ ...old, status: { ...status, title: 'changed' } }, old, { subResource: 'status' });
    return { paths: ['/admission/mutate/rollout-status'], body };
  },
  'a write of the spec beside 10,000 releases': () => {
    const old = withHistory(10, '1.0.0', { availableReleases: versions(10_000), releaseCandidates: versions(10_000) });
    const annotations = { 'rollout.kuberik.com/force-deploy': '9.9.9', 'rollout.kuberik.com/bypass-gates': '9.9.9' };
    const next = { ...old, metadata: { ...old.metadata, annotations }, spec: { ...old.spec, wantedVersion: '9.9.9' } };
    return written('rollout', next, old);
  },
  'a requested version, among 200 objects with 500 variables that 40 Rollouts claim': () => {
    const named = { metadata: { name: 'r-1', annotations: { 'rollout.kuberik.com/force-deploy': '9.9.9' } } };
    return written('rollout', rollout(named), rollout({ metadata: { name: 'r-1' } }), contested(200));
  },
  'the deletion of an object of 64 Rollouts, among 200 objects with 500 variables that 40 Rollouts claim': () => {
    const names = times(64, (i) => `r-${i}`);
    const annotations = Object.fromEntries(names.map((name, i) => [`rollout.kuberik.com/substitute.A${i}.from`, name]));
    const stored = [...contested(200), ...names.map((name) => rollout({ metadata: { name } }))];
    return {
      paths: ['/admission/validate/flux'],
      body: review(null, kustomization({ metadata: { annotations } })),
      stored,
    };
  },
  'the deletion of one of 500 objects that are all bound to the same 64 Rollouts': () => bound(500),
  'the deletion of one of 300 such objects with 100 Gates each': () => bound(300, 100),
  'a requested version, among 2,000 bound objects and 900 Gates that select them': () => {
    const annotations = { 'rollout.kuberik.com/substitute.A.from': 'r-1' };
    const objects = times(2000, (i) => kustomization({ metadata: { name: `k${i}`, uid: `u${i}`, annotations } }));
    const labels = { 'gate.fluxcd.io/selects': 'own-namespace' };
    const gates = times(900, (i) => gate({ metadata: { name: `g${i}`, labels }, spec: { selects: {} } }));
    const named = { metadata: { name: 'r-1', annotations: { 'rollout.kuberik.com/force-deploy': '9.9.9' } } };
    return written('rollout', rollout(named), rollout({ metadata: { name: 'r-1' } }), [...objects, ...gates]);
  },
  '180 kB of requests': () => {
    const record = { id: 'uid-uid-uid', by: 'alice', at: AT };
    const request = JSON.stringify(Object.fromEntries(times(3000, (i) => [`k${i}`, record])));
    const annotations = { 'rollout.kuberik.com/request': request, 'rollout.kuberik.com/retry': '' };
    return written('rollout', rollout({ metadata: { annotations } }), rollout({ metadata: { annotations } }));
  },
  'a HealthCheck selector with 5,000 values': () => {
    const values = times(100, (j) => `v${j}`);
    const selector = { matchExpressions: times(50, (i) => ({ key: `k${i}`, operator: 'In', values })) };
    return { paths: VALIDATION, body: review(rollout({ spec: { healthCheckSelector: { selector } } })) };
  },
  'a binding of 200 Gates and 60 Rollouts': () => {
    const target = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', name: 'web', uid: 'uid-web' };
    const fields = times(60, (i) => ({ rollout: `r${i}`, variable: `V${i}` }));
    const gates = times(200, (i) => ({ namespace: 'shop', name: `g${i}` }));
    const metadata = { name: 'kustomization-web' };
    return synced('fluxbinding', object(KUBERIK, 'FluxBinding', { metadata, spec: { target, fields, gates } }), [
      ...times(200, (i) => gate({ metadata: { name: `g${i}` } })),
      ...times(60, (i) => ({ ...withHistory(5), metadata: { name: `r${i}`, namespace: 'shop', uid: `u${i}` } })),
    ]);
  },
  'an inventory of 5,000 objects': () => {
    const annotations = { 'healthcheck.kuberik.com/kustomization': 'web' };
    const about = object(KUBERIK, 'HealthCheck', { metadata: { annotations }, spec: { class: 'kustomization' } });
    const entries = times(5000, (i) => ({ id: `shop_web${i}_apps_Deployment`, v: 'v1' }));
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'ReconciliationSucceeded',
      message: '',
      lastTransitionTime: AT,
    };
    const current = { observedGeneration: 1, conditions: [ready] };
    const status = { observedGeneration: 1, replicas: 1, readyReplicas: 0, updatedReplicas: 1 };
    const deployments = times(5000, (i) =>
      object('apps/v1', 'Deployment', { metadata: { name: `web${i}` }, spec: { replicas: 1 }, status }),
    );
    const source = object('source.toolkit.fluxcd.io/v1', 'GitRepository', {
      status: { artifact: { revision: 'main@sha1:a' }, ...current },
    });
    const applied = kustomization({
      status: { ...current, lastAppliedRevision: 'main@sha1:a', inventory: { entries } },
    });
    return synced('healthcheck', about, [], [applied, source, ...deployments]);
  },
  'a HealthCheck among 2,000 Rollouts': () => {
    const about = object(KUBERIK, 'HealthCheck', {
      metadata: { labels: { app: 'web' } },
      spec: { class: 'other' },
      status: { status: 'Healthy', lastChangeTime: AT },
    });
    const matchExpressions = [{ key: 'app', operator: 'NotIn', values: times(20, (j) => `v${j}`) }];
    const spec = { healthCheckSelector: { selector: { matchExpressions } } };
    const status = { history: [deployed('1.0.0')] };
    const rollouts = times(2000, (i) => rollout({ metadata: { name: `r${i}`, uid: `u${i}` }, spec, status }));
    return synced('healthcheck', about, rollouts);
  },
};
