/** Releases, failures and freezes on the real source-controller and kustomize-controller, from a real registry. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FluxControllers, startFlux } from '../../../dev/local/flux/controllers.ts';
import {
  type AnyObject,
  type ClusterView,
  gate,
  kustomization,
  ociRepository,
  ref,
  rollout,
  staysTrue,
  viewCluster,
  waitFor,
} from '../../cluster/support/cluster.ts';
import { ask, isHeld } from '../../cluster/support/gates.ts';
import { startTestCluster, type TestCluster } from '../../cluster/support/testCluster.ts';
import { type RealRegistry, startRealRegistry } from '../../server/registry/realRegistry.ts';
import { pushArtifact, registrySecret } from './artifact.ts';

let cluster: TestCluster;
let view: ClusterView;
let flux: FluxControllers;
let registry: RealRegistry;
let ns: string;

// The first one on a machine builds the controllers.
beforeAll(async () => {
  registry = await startRealRegistry();
  cluster = await startTestCluster();
  view = viewCluster(cluster);
  flux = await startFlux(view.admin);
  ns = await view.newNamespace();
  await view.admin.create(registrySecret(ns, 'registry', registry));
}, 1_500_000);
afterAll(async () => {
  await flux?.stop();
  await cluster?.dispose();
  await registry?.stop();
});

const configMap = (version: string) => `apiVersion: v1
kind: ConfigMap
metadata:
  name: app
data:
  artifact: "${version}"
  variable: "\${APP_VERSION}"
`;
/** Nothing here runs Pods: it never becomes available. */
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
  await pushArtifact(registry, 'app', version, { 'app.yaml': configMap(version), ...files });
  await view.publish(ns, 'app', version);
};
const applied = async () =>
  (await view.admin.find<AnyObject>({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: ns, name: 'app' } }))
    ?.data;
const head = async () => (await view.admin.get(ref('rollout', ns, 'app'))).status?.history?.[0];
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
  const { developer } = view;
  const url = `oci://${registry.host}/app`;
  const source = { url, insecure: true, interval: '1m', secretRef: { name: 'registry' } };
  const spec = { wait: true, timeout: '10s', interval: '1m', retryInterval: '2s', targetNamespace: ns };
  await developer.create(ociRepository(ns, 'app', { rollout: 'app', spec: source }));
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
  await waitFor(
    async () => (await view.admin.get(ref('rollout', ns, 'app'))).status.history.some(isFailed('1.1.0')),
    '1.1.0 Failed',
    120_000,
  );
  await outcome('1.0.0', 'Succeeded');
  expect(await applied()).toEqual({ artifact: '1.0.0', variable: '1.0.0' });
});

it('a health check that fails is Failed, and rolled back', async () => {
  await release('1.2.0', { 'web.yaml': DEPLOYMENT });
  await waitFor(
    async () => (await view.admin.get(ref('rollout', ns, 'app'))).status.history.some(isFailed('1.2.0')),
    '1.2.0 Failed',
    120_000,
  );
  await outcome('1.0.0', 'Succeeded');
  expect(await applied()).toEqual({ artifact: '1.0.0', variable: '1.0.0' });
});

const isFailed = (version: string) => (entry: AnyObject) =>
  entry.version.tag === version && entry.bakeStatus === 'Failed';

it('behind a closed Gate nothing is applied, and after its opening the newest version', async () => {
  const { admin, developer, sre } = view;
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
  await waitFor(
    async () => (await view.admin.get(ref('rollout', ns, 'app'))).status.pendingVersion === '1.3.0',
    'the Rollout to wait with 1.3.0',
  );
  await staysTrue(async () => (await applied())?.artifact === '1.0.0', 'nothing is applied', 5000);
  await ask(sre, ns, 'freeze', 'open');
  await outcome('1.3.0', 'Succeeded');
  expect(await applied()).toEqual({ artifact: '1.3.0', variable: '1.3.0' });
});
