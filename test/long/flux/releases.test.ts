/** Releases, failures and freezes with the real source-controller and kustomize-controller, from a real registry. */
import { describe, expect, it } from 'vitest';
import {
  type AnyObject,
  gate,
  kustomization,
  ociRepository,
  ref,
  rollout,
  staysTrue,
  waitFor,
} from '../../cluster/support/cluster.ts';
import { isHeld, requestGate } from '../../cluster/support/gates.ts';
import { conditionOf } from '../../cluster/support/versions.ts';
import { realFluxSetup } from './realFluxSetup.ts';

const setup = realFluxSetup();

const configMap = (version: string) => `apiVersion: v1
kind: ConfigMap
metadata:
  name: app
data:
  artifact: "${version}"
  variable: "\${APP_VERSION}"
`;
/** It never becomes available, because no Pods run. */
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: web }] }
`;

const release = async (version: string, files: Record<string, string> = {}) => {
  const { push, view, ns } = setup;
  await push('app', version, { 'app.yaml': configMap(version), ...files });
  await view.publish(ns, 'app', version);
};
const getRollout = () => setup.view.admin.get(ref('rollout', setup.ns, 'app'));
const applied = async () =>
  (
    await setup.view.admin.find<AnyObject>({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: setup.ns, name: 'app' },
    })
  )?.data;
const head = async () => (await getRollout()).status?.history?.[0];
const outcome = (version: string, bakeStatus: string) =>
  waitFor(
    async () => {
      expect(await head()).toMatchObject({ version: { tag: version }, bakeStatus });
      return true;
    },
    `${version} ${bakeStatus}`,
    120_000,
  );

it('a release is fetched, applied and Succeeded, with tag and variable of one version', async () => {
  const {
    ns,
    source,
    view: { developer },
  } = setup;
  const spec = { wait: true, timeout: '10s', interval: '1m', retryInterval: '2s', targetNamespace: ns };
  await developer.create(ociRepository(ns, 'app', { rollout: 'app', spec: source('app') }));
  await developer.create(kustomization(ns, 'app', { variables: { APP_VERSION: 'app' }, spec }));
  await developer.create({
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'HealthCheck',
    metadata: {
      namespace: ns,
      name: 'app',
      labels: { app: 'app' },
      annotations: { 'healthcheck.kuberik.com/kustomization': 'app' },
    },
    spec: { class: 'kustomization' },
  });
  await developer.create(
    rollout(ns, 'app', {
      spec: {
        bakeTime: '2s',
        deployTimeout: '1m',
        onFailure: 'Rollback',
        healthCheckSelector: { selector: { matchLabels: { app: 'app' } } },
      },
    }),
  );
  await release('1.0.0');
  await outcome('1.0.0', 'Succeeded');
  expect(await applied()).toEqual({ artifact: '1.0.0', variable: '1.0.0' });
});

it('a build that fails is Failed with the message of Flux, and rolled back', async () => {
  await release('1.1.0', { 'broken.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [}\n' });
  await waitFor(async () => (await getRollout()).status.history.some(isFailed('1.1.0')), '1.1.0 Failed', 120_000);
  await outcome('1.0.0', 'Succeeded');
  expect(await applied()).toEqual({ artifact: '1.0.0', variable: '1.0.0' });
});

it('a health check that fails is Failed, and rolled back', async () => {
  await release('1.2.0', { 'web.yaml': DEPLOYMENT });
  await waitFor(async () => (await getRollout()).status.history.some(isFailed('1.2.0')), '1.2.0 Failed', 120_000);
  await outcome('1.0.0', 'Succeeded');
  expect(await applied()).toEqual({ artifact: '1.0.0', variable: '1.0.0' });
});

const isFailed = (version: string) => (entry: AnyObject) =>
  entry.version.tag === version && entry.bakeStatus === 'Failed';

it('behind a closed Gate nothing is applied, and after its opening the newest version', async () => {
  const {
    ns,
    view: { admin, developer, sre },
  } = setup;
  await sre.create(gate(ns, 'freeze', { spec: { default: 'closed' } }));
  await developer.mergePatch(ref('kustomization', ns, 'app'), {
    metadata: { annotations: { 'gate.fluxcd.io/gates': 'freeze' } },
  });
  await isHeld(admin, {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { namespace: ns, name: 'app' },
  } as AnyObject);
  await release('1.3.0');
  await waitFor(async () => (await getRollout()).status.pendingVersion === '1.3.0', 'the Rollout to wait with 1.3.0');
  await staysTrue(async () => (await applied())?.artifact === '1.0.0', 'nothing is applied', 5000);
  await requestGate(sre, ns, 'freeze', 'open');
  await outcome('1.3.0', 'Succeeded');
  expect(await applied()).toEqual({ artifact: '1.3.0', variable: '1.3.0' });
});

it('a sync of held objects continues: Flux reads them as unchanged, a user is refused, and the opening applies them', async () => {
  const { ns, source, view } = setup;
  const child = ref('kustomization', ns, 'child');
  const push = async (tag: string) => {
    const object = kustomization(ns, 'child', {
      annotations: { 'gate.fluxcd.io/gates': 'held' },
      spec: { interval: '1m', path: `./${tag}`, prune: true, sourceRef: { kind: 'OCIRepository', name: 'app' } },
    });
    const { namespace: _, ...metadata } = object.metadata;
    await setup.push('parent', tag, { 'child.yaml': JSON.stringify({ ...object, metadata }) });
  };
  const parentApplied = (tag: string) =>
    waitFor(
      async () => {
        const { status } = await view.admin.get(ref('kustomization', ns, 'parent'));
        expect(status.lastAppliedRevision).toContain(`${tag}@`);
        expect(conditionOf({ status } as AnyObject, 'Ready')?.status).toBe('True');
        return true;
      },
      `parent to have applied ${tag}`,
      180_000,
    );
  await view.sre.create(gate(ns, 'held', { spec: { default: 'opened' } }));
  await push('1.0.0');
  await view.admin.create(ociRepository(ns, 'parent', { spec: { ...source('parent'), ref: { tag: '1.0.0' } } }));
  await view.admin.create(kustomization(ns, 'parent', { spec: { interval: '1m', targetNamespace: ns } }));
  await parentApplied('1.0.0');
  await requestGate(view.sre, ns, 'held', 'close');
  await isHeld(view.admin, child as AnyObject);
  await push('2.0.0');
  await view.admin.mergePatch(ref('ociRepository', ns, 'parent'), { spec: { ref: { tag: '2.0.0' } } });
  await parentApplied('2.0.0');
  expect((await view.admin.get(child)).spec).toMatchObject({ path: './1.0.0', suspend: true });
  const edit = { ...child, spec: { path: './mine' } };
  const refused = view.developer.apply(edit as AnyObject, { force: true });
  await expect(refused).rejects.toMatchObject({ code: 403 });
  await requestGate(view.sre, ns, 'held', 'open');
  await waitFor(
    async () => {
      expect((await view.admin.get(child)).spec).toMatchObject({ path: './2.0.0' });
      expect((await view.admin.get(child)).spec.suspend).toBeFalsy();
      return true;
    },
    'the change after the opening',
    180_000,
  );
});

it('Kustomizations that depend on a held one continue, as docs/gates.md describes', async () => {
  const { ns, push, source, view } = setup;
  const own = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: base }\n';
  await push('base', '1.0.0', { 'a.yaml': own });
  await view.admin.create(ociRepository(ns, 'base', { spec: { ...source('base'), ref: { tag: '1.0.0' } } }));
  await view.sre.create(gate(ns, 'base', { spec: { default: 'opened' } }));
  const spec = {
    interval: '1m',
    retryInterval: '2s',
    targetNamespace: ns,
    sourceRef: { kind: 'OCIRepository', name: 'base' },
  };
  const annotations = { 'gate.fluxcd.io/gates': 'base' };
  await view.admin.create(kustomization(ns, 'base', { annotations, spec }));
  const reasonOf = async (name: string) =>
    conditionOf(await view.admin.get(ref('kustomization', ns, name)), 'Ready')?.reason;
  await waitFor(async () => (await reasonOf('base')) === 'ReconciliationSucceeded', 'base', 90_000);
  await requestGate(view.sre, ns, 'base', 'close');
  await isHeld(view.admin, ref('kustomization', ns, 'base') as AnyObject);
  await view.admin.create(kustomization(ns, 'above', { spec: { ...spec, dependsOn: [{ name: 'base' }] } }));
  await waitFor(async () => (await reasonOf('above')) === 'ReconciliationSucceeded', 'above', 90_000);
});

describe('when a Gate closes', () => {
  /** An OCIRepository and a Kustomization of `files`; objects in `gated` require the Gate of this name. */
  const create = async (name: string, gated: 'source' | 'sync', spec: object, files: Record<string, string>) => {
    const { push, source, ns, view } = setup;
    const annotations = { 'gate.fluxcd.io/gates': name };
    const own = { spec: { ...source(name), ref: { tag: '1.0.0' } }, ...(gated === 'source' && { annotations }) };
    const settings = { interval: '5s', retryInterval: '1s', targetNamespace: ns, ...spec };
    await push(name, '1.0.0', files);
    await view.sre.create(gate(ns, name, { spec: { default: 'opened' } }));
    await view.admin.create(ociRepository(ns, name, own));
    await view.admin.create(kustomization(ns, name, { spec: settings, ...(gated === 'sync' && { annotations }) }));
  };
  const statusOf = async (name: string) => (await setup.view.admin.get(ref('kustomization', setup.ns, name))).status;

  it('a running reconciliation finishes, and no other starts', async () => {
    const { ns, view } = setup;
    await create('goes-on', 'sync', { wait: true, timeout: '15s' }, { 'web.yaml': DEPLOYMENT });
    const reconciling = async () => conditionOf({ status: await statusOf('goes-on') } as AnyObject, 'Reconciling');
    const waits = async () => (await reconciling())?.message.startsWith('Running health checks');
    await waitFor(waits, 'Flux to wait for the Deployment');
    await requestGate(view.sre, ns, 'goes-on', 'close');
    await isHeld(view.admin, ref('kustomization', ns, 'goes-on') as AnyObject);
    expect((await statusOf('goes-on')).history).toBeUndefined();
    const ended = async () => (await statusOf('goes-on')).history?.[0];
    await waitFor(async () => (await ended())?.lastReconciledStatus === 'HealthCheckFailed', 'its end', 60_000);
    await staysTrue(async () => (await ended())?.totalReconciliations === 1, 'nothing more is tried', 5000);
  });

  it('with a held source, Flux still re-creates deleted objects', async () => {
    const { ns, view } = setup;
    const metadata = { namespace: ns, name: 'drift' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    await create('drift', 'source', {}, { 'a.yaml': JSON.stringify({ ...object, metadata: { name: 'drift' } }) });
    const uid = async () => (await view.admin.find<AnyObject>(object))?.metadata.uid;
    const first = await waitFor(uid, 'the ConfigMap', 90_000);
    await requestGate(view.sre, ns, 'drift', 'close');
    await isHeld(view.admin, ref('ociRepository', ns, 'drift') as AnyObject);
    await view.admin.remove(object);
    await waitFor(async () => ![undefined, first].includes(await uid()), 'another one', 60_000);
  });
});

describe('docs/depend-on-a-gate.md', () => {
  const GATE = { apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1', kind: 'Gate' };
  const readyReason = async (name: string) =>
    conditionOf(await setup.view.admin.get(ref('kustomization', setup.ns, name)), 'Ready')?.reason;
  /** An OCIRepository and a Kustomization of one ConfigMap; `more`: of what else it applies. */
  const create = async (name: string, spec: object, more: Record<string, string> = {}) => {
    const { push, source, ns, view } = setup;
    const own = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`;
    await push(name, '1.0.0', { 'a.yaml': own, ...more });
    await view.admin.create(ociRepository(ns, name, { spec: { ...source(name), ref: { tag: '1.0.0' } } }));
    const settings = { interval: '1m', retryInterval: '2s', timeout: '5s', targetNamespace: ns };
    await view.admin.create(kustomization(ns, name, { spec: { ...settings, ...spec } }));
  };

  it('a Kustomization waits for a closed Gate by healthChecks and dependsOn alone', async () => {
    const { ns, view } = setup;
    await view.sre.create(gate(ns, 'change', { spec: { default: 'closed' } }));
    await create('approved', { healthChecks: [{ ...GATE, name: 'change', namespace: ns }] });
    await create('dependent', { dependsOn: [{ name: 'approved' }] });
    await waitFor(async () => (await readyReason('approved')) === 'HealthCheckFailed', 'approved to fail', 180_000);
    expect(await readyReason('dependent')).toBe('DependencyNotReady');
    await requestGate(view.sre, ns, 'change', 'open');
    await waitFor(async () => (await readyReason('dependent')) === 'ReconciliationSucceeded', 'dependent', 180_000);
  });

  const exprs = [{ ...GATE, current: 'status.observedGeneration == metadata.generation' }];
  it.each<[name: string, spec: object, reason: string]>([
    ['own-gate', {}, 'HealthCheckFailed'],
    ['own-gate-evaluated', { healthCheckExprs: exprs }, 'ReconciliationSucceeded'],
  ])('with wait: true, %s, that applies a closed Gate, with %j ends with %s', async (name, spec, reason) => {
    const closed = { ...GATE, metadata: { name }, spec: { default: 'closed' } };
    await create(name, { wait: true, ...spec }, { 'gate.yaml': JSON.stringify(closed) });
    await waitFor(async () => (await readyReason(name)) === reason, reason, 180_000);
  });
});
