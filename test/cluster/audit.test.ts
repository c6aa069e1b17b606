/**
 * The component audit: its ServiceAccount watches, and a sink that fails at first gets each record once, even across a
 * restart.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requestToken } from '../../dev/local/controlPlane/serviceAccount.ts';
import { kubeconfigOf } from '../../dev/local/controlPlane/users.ts';
import { REPOSITORY } from '../../dev/repository.ts';
import { objectsIn } from '../manifests/files.ts';
import { startLocalServer } from '../support/localServer.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { type AnyObject, gate, ref, rolloutGate, sharedCluster, waitFor } from './support/cluster.ts';
import { requestGate } from './support/gates.ts';
import { scenarioOf } from './support/rolloutScenario.ts';

const view = sharedCluster();
const { admin, sre, newNamespace } = view;
const dir = temporaryFolder('audit-');
const received: AnyObject[] = [];
let failures = 0;
let ns: string;
const sink = await startLocalServer(async (request, response) => {
  const event = (await json(request)) as AnyObject;
  if (failures++ === 0) return void response.writeHead(503).end();
  received.push(event);
  response.writeHead(202).end();
});
let program: ChildProcess | undefined;

beforeAll(async () => {
  ns = await newNamespace();
  for (const object of objectsIn('components/audit/rbac.yaml')) {
    const { metadata, subjects } = object;
    await admin.create({
      ...object,
      metadata: { name: metadata.name, ...(metadata.namespace && { namespace: ns }) },
      ...(subjects && { subjects: [{ ...subjects[0], namespace: ns }] }),
    } as AnyObject);
  }
  const token = await requestToken(admin, { namespace: ns, name: 'rollout-hooks-audit' });
  const { url, ca } = admin.access;
  writeFileSync(join(dir, 'kubeconfig'), kubeconfigOf('audit', { url, ca, token }), { mode: 0o600 });
  writeFileSync(join(dir, 'url'), `http://${sink.host}/`);
});

afterAll(async () => {
  await stop();
  for (const kind of ['ClusterRole', 'ClusterRoleBinding']) {
    await admin.remove({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name: 'rollout-hooks-audit' } });
  }
});

function start(): void {
  const args = ['audit/main.ts', '--sink', dir, '--source', '/clusters/test', '--port', '0'];
  program = spawn(process.execPath, args, {
    cwd: REPOSITORY,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      KUBECONFIG: join(dir, 'kubeconfig'),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function stop(): Promise<void> {
  if (!program || program.exitCode !== null) return;
  const exited = new Promise((resolve) => program!.once('exit', resolve));
  program.kill('SIGTERM');
  await exited;
}

/** Whether the program has listed the kind, which it reports as a gap, and watches it now. */
const hasGap = (kind: string) =>
  received.some(({ type, subject }) => type === 'com.kuberik.audit.Gap' && subject === kind);
const ofNamespace = () => received.filter(({ subject }) => subject.includes(`/${ns}/`));
const typed = (suffix: string) => ofNamespace().filter(({ type }) => type.includes(suffix));

it('a closure, a deployment, approvals and a withdrawal reach the sink, though it fails at first', async () => {
  start();
  await waitFor(() => ['Rollout', 'RolloutGate', 'Gate', 'Event'].every(hasGap), 'the watches', 90_000);
  const scenario = scenarioOf(view, ns);
  await scenario.create();
  await view.publish(ns, 'app', '1.0.0');
  await scenario.headIs('1.0.0', 'Succeeded');
  await view.publish(ns, 'app', '1.1.0');
  await scenario.headIs('1.1.0', 'Succeeded');
  await sre.create(gate(ns, 'freeze', { spec: { default: 'opened' } }));
  await requestGate(sre, ns, 'freeze', 'close');
  await sre.create(rolloutGate(ns, 'qa', 'app', { approvals: { required: 2 } }));
  await view.publish(ns, 'app', '1.2.0');
  await scenario.conditionIs('DeploymentBlocked', { status: 'True' });
  const annotate = (annotations: object) => sre.mergePatch(ref('rolloutGate', ns, 'qa'), { metadata: { annotations } });
  await annotate({ 'rollout.kuberik.com/approve': '1.2.0', 'rollout.kuberik.com/approve-reason': 'QA-7' });
  await waitFor(
    async () => (await admin.get(ref('rolloutGate', ns, 'qa'))).status?.approvals?.progress === '1/2 for 1.2.0',
    'the approval in the status',
  );
  await annotate({ 'rollout.kuberik.com/unapprove': '1.2.0' });

  await waitFor(() => typed('ApprovalWithdrawn').length > 0, 'the withdrawal');
  expect(typed('Closed')).toMatchObject([
    { specversion: '1.0', source: '/clusters/test', subject: `Gate/${ns}/freeze`, data: { sources: ['Object'] } },
  ]);
  expect(typed('Closed')[0]!.data.user).toBeTruthy();
  expect(typed('dev.cdevents.service').map(({ type, data }) => [type, data.customData.version])).toEqual([
    ['dev.cdevents.service.deployed.0.3.0', '1.0.0'],
    ['dev.cdevents.service.upgraded.0.3.0', '1.1.0'],
  ]);
  expect(typed('Approved')).toMatchObject([{ data: { version: '1.2.0', reason: 'QA-7' } }]);
  expect(failures).toBeGreaterThan(received.length);
  const ids = ofNamespace().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

it('after a restart it sends the same ids again, and reports a possible gap', async () => {
  await stop();
  const before = new Set(ofNamespace().map(({ id }) => id));
  // Only the Event of the withdrawal is left of the approval.
  const recorded = [...typed('Closed'), ...typed('dev.cdevents')].map(({ id }) => id);
  received.length = 0;
  start();
  await waitFor(() => recorded.every((id) => received.some((event) => event.id === id)), 'everything again');
  expect(ofNamespace().filter(({ id }) => !before.has(id))).toEqual([]);
  await waitFor(() => hasGap('Gate'), 'the gap');
});
