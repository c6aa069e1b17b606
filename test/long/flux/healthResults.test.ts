/** The table of docs/healthchecks.md "Class kustomization", with the real kustomize-controller and helm-controller. */
import { expect, it } from 'vitest';
import { CHART } from '../../../dev/local/registry/artifact.ts';
import { type AnyObject, kustomization, ociRepository, ref, waitFor } from '../../cluster/support/cluster.ts';
import { conditionOf } from '../../cluster/support/versions.ts';
import { objectOf } from '../../support/objects.ts';
import { realFluxSetup } from './realFluxSetup.ts';

const setup = realFluxSetup({ withHelm: true });

const manifest = (name: string, state: string) => `apiVersion: v1
kind: ConfigMap
metadata: { name: ${name} }
data: { state: ${state} }
`;
/** It never becomes available, because no Pods run. */
const deployment = (name: string) => `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { containers: [{ name: web, image: web }] }
`;
const REFUSED = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: refused }\nspec: {}\n';
const TEST_POD = `apiVersion: v1
kind: Pod
metadata: { name: smoke, annotations: { helm.sh/hook: test } }
spec: { containers: [{ name: smoke, image: smoke }] }
`;
const exprs = (current: string) => ({
  wait: true,
  healthCheckExprs: [{ apiVersion: 'v1', kind: 'ConfigMap', current, failed: "data.state == 'bad'" }],
});

interface Row {
  name: string;
  /** Files that the Kustomization applies. */
  files?: Record<string, string>;
  /** More of its spec. */
  spec?: object;
  /** Reason of Ready. */
  reason: string;
  health: 'Healthy' | 'Unhealthy' | 'Pending';
  message: RegExp;
}

const ROWS: Row[] = [
  {
    name: 'fine',
    files: { 'a.yaml': manifest('fine', 'good') },
    reason: 'ReconciliationSucceeded',
    health: 'Healthy',
    message: /healthy|current/i,
  },
  {
    name: 'broken-build',
    files: { 'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [}\n' },
    reason: 'BuildFailed',
    health: 'Unhealthy',
    message: /BuildFailed/,
  },
  {
    name: 'refused',
    files: { 'a.yaml': REFUSED },
    reason: 'ReconciliationFailed',
    health: 'Unhealthy',
    message: /ReconciliationFailed/,
  },
  {
    name: 'never-ready',
    files: { 'a.yaml': deployment('never-ready') },
    spec: { wait: true, timeout: '3s' },
    reason: 'HealthCheckFailed',
    health: 'Unhealthy',
    message: /HealthCheckFailed/,
  },
  {
    name: 'not-waited-for',
    files: { 'a.yaml': deployment('not-waited-for') },
    reason: 'ReconciliationSucceeded',
    health: 'Pending',
    message: /not-waited-for/,
  },
  {
    name: 'waits',
    files: { 'a.yaml': manifest('waits', 'good') },
    spec: { dependsOn: [{ name: 'missing' }] },
    reason: 'DependencyNotReady',
    health: 'Pending',
    message: /DependencyNotReady|not|waiting/i,
  },
  { name: 'no-artifact', reason: 'ArtifactFailed', health: 'Pending', message: /./ },
  {
    name: 'no-such-rule',
    files: { 'a.yaml': manifest('no-such-rule', 'good') },
    spec: exprs('data.state =='),
    reason: 'InvalidCELExpression',
    health: 'Unhealthy',
    message: /InvalidCELExpression|CEL/,
  },
  {
    name: 'good-by-rule',
    files: { 'a.yaml': manifest('good-by-rule', 'good') },
    spec: exprs("data.state == 'good'"),
    reason: 'ReconciliationSucceeded',
    health: 'Healthy',
    message: /./,
  },
  {
    name: 'bad-by-rule',
    files: { 'a.yaml': manifest('bad-by-rule', 'bad') },
    spec: exprs("data.state == 'good'"),
    reason: 'HealthCheckFailed',
    health: 'Unhealthy',
    message: /HealthCheckFailed/,
  },
];

interface ChartRow extends Row {
  /** Templates of the chart, and of its next version if any. */
  charts: Record<string, string>[];
}

const CHARTS: ChartRow[] = [
  {
    name: 'installed',
    charts: [{ 'a.yaml': manifest('installed', 'good') }],
    reason: 'InstallSucceeded',
    health: 'Healthy',
    message: /./,
  },
  {
    name: 'not-installed',
    charts: [{ 'a.yaml': REFUSED }],
    reason: 'InstallFailed',
    health: 'Unhealthy',
    message: /InstallFailed/,
  },
  {
    name: 'uninstalled',
    charts: [{ 'a.yaml': deployment('uninstalled') }],
    spec: { timeout: '3s', install: { remediation: { retries: 1, remediateLastFailure: true } } },
    reason: 'InstallFailed',
    health: 'Unhealthy',
    message: /InstallFailed/,
  },
  {
    name: 'not-upgraded',
    charts: [{ 'a.yaml': manifest('not-upgraded', 'good') }, { 'a.yaml': REFUSED }],
    reason: 'UpgradeFailed',
    health: 'Unhealthy',
    message: /UpgradeFailed/,
  },
  {
    name: 'taken-back',
    charts: [{ 'a.yaml': manifest('taken-back', 'good') }, { 'a.yaml': REFUSED }],
    spec: { upgrade: { remediation: { remediateLastFailure: true } } },
    reason: 'RollbackSucceeded',
    health: 'Unhealthy',
    message: /UpgradeFailed: .*RollbackSucceeded/s,
  },
  {
    name: 'not-tested',
    charts: [{ 'a.yaml': manifest('not-tested', 'good'), 'b.yaml': TEST_POD }],
    spec: { test: { enable: true, timeout: '3s' } },
    reason: 'TestFailed',
    health: 'Unhealthy',
    message: /TestFailed/,
  },
  { name: 'no-chart', charts: [], reason: 'SourceNotReady', health: 'Pending', message: /./ },
];

const healthCheck = (name: string): AnyObject =>
  objectOf('HealthCheck', {
    metadata: {
      namespace: setup.ns,
      name,
      annotations: {
        'healthcheck.kuberik.com/kustomization': name,
        'healthcheck.kuberik.com/requeue-interval': '5s',
        'healthcheck.kuberik.com/grace-period': '2s',
      },
    },
    spec: { class: 'kustomization' },
  }) as AnyObject;

/** Pushes the manifests, and creates source, Kustomization and HealthCheck of this name. */
async function apply(name: string, files: Record<string, string> | undefined, spec: object = {}): Promise<void> {
  const { ns, push, source, view } = setup;
  const { admin } = view;
  if (files) await push(name, '1.0.0', files);
  await admin.create(ociRepository(ns, name, { spec: { ...source(name), ref: { tag: '1.0.0' } } }));
  const own = { interval: '1m', retryInterval: '2s', timeout: '20s', targetNamespace: ns, ...spec };
  await admin.create(kustomization(ns, name, { spec: own }));
  await admin.create(healthCheck(name));
}

const reasonOf = async (kind: 'kustomization' | 'helmRelease', name: string) =>
  conditionOf(await setup.view.admin.get(ref(kind, setup.ns, name)), 'Ready')?.reason;

const isJudged = (
  name: string,
  reason: () => Promise<string | undefined>,
  row: Pick<Row, 'reason' | 'health' | 'message'>,
) =>
  waitFor(
    async () => {
      const { status } = await setup.view.admin.get(ref('healthCheck', setup.ns, name));
      expect({ reason: await reason(), health: status?.status, message: status?.message }).toEqual({
        reason: row.reason,
        health: row.health,
        message: expect.stringMatching(row.message),
      });
      return true;
    },
    `${name}: ${row.reason} to be ${row.health}`,
    90_000,
  );

it.concurrent.each(ROWS)('a Kustomization, $name: $reason is $health', async (row) => {
  await apply(row.name, row.files, row.spec);
  await isJudged(row.name, () => reasonOf('kustomization', row.name), row);
});

it.concurrent.each(CHARTS)('a HelmRelease, $name: $reason is $health', async ({ name, charts, spec = {}, ...row }) => {
  const { admin } = setup.view;
  const chart = ref('ociRepository', setup.ns, `${name}-chart`);
  const tags = charts.map((_, i) => `${i + 1}.0.0`);
  for (const [i, templates] of charts.entries()) {
    await setup.pushChart(`${name}-chart`, tags[i]!, templates);
  }
  const layerSelector = { mediaType: CHART.content, operation: 'copy' };
  const ofChart = { ...setup.source(`${name}-chart`), layerSelector, ref: { tag: tags[0] ?? '1.0.0' } };
  await admin.create(ociRepository(setup.ns, `${name}-chart`, { spec: ofChart }));
  const release = {
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name },
    spec: { interval: '1m', timeout: '10s', chartRef: { kind: 'OCIRepository', name: `${name}-chart` }, ...spec },
  };
  await apply(name, { 'release.yaml': JSON.stringify(release) });
  const reason = () => reasonOf('helmRelease', name);
  if (tags.length > 1) {
    await isJudged(name, reason, { reason: 'InstallSucceeded', health: 'Healthy', message: /./ });
    await admin.mergePatch(chart, { spec: { ref: { tag: tags[1] } } });
  }
  await isJudged(name, reason, row);
});
