/**
 * manifests/examples/gate-cronjob.yaml: its ServiceAccount closes the Gate with its own command, and may do nothing
 * else.
 */
import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { User } from '../../dev/actors/user.ts';
import { send } from '../../dev/client/send.ts';
import { requestToken } from '../../dev/local/controlPlane/serviceAccount.ts';
import { type AnyObject, ref, sharedCluster, waitFor } from './support/cluster.ts';
import { createStrictly, exampleObjects } from './support/examples.ts';
import { conditionText, gated, isFree, isHeld, requestGate } from './support/gates.ts';

const { admin, developer, sre, newNamespace } = sharedCluster();
const ACCOUNT = 'no-deploy-fridays';
let ns: string;
let cronJob: AnyObject;
let account: User;
const app = () => gated('Kustomization', ns, 'app');

beforeAll(async () => {
  ns = await newNamespace({ environment: `production-${Date.now()}` });
  const { metadata } = await admin.get({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } });
  const names = { 'flux-system': ns, 'environment: production': `environment: ${metadata.labels?.environment}` };
  const objects = exampleObjects('gate-cronjob.yaml', names);
  for (const object of objects) await createStrictly(admin, object);
  cronJob = objects.find(({ kind }) => kind === 'CronJob')!;
  const token = await requestToken(admin, { namespace: ns, name: pod().serviceAccountName });
  const { url, ca } = admin.access;
  account = new User({ url, ca, token });
  await developer.create(app());
});

const pod = () => cronJob.spec.jobTemplate.spec.template.spec;

/** The annotations in the CronJob's kubectl command. */
function annotationsOfCommand(): Record<string, string> {
  const [shell, option] = pod().containers[0].command;
  const script = `kubectl() { printf '%s\\n' "$@"; }\n${pod().containers[0].args[0]}`;
  const [verb, overwrite, gate, ...words] = execFileSync(shell, [option, script], { encoding: 'utf8' })
    .trim()
    .split('\n');
  expect([verb, overwrite, gate]).toEqual(['annotate', '--overwrite', 'gate/maintenance']);
  return Object.fromEntries(words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]));
}

const maintenance = () => ref('gate', ns, 'maintenance');
const opened = async () => conditionText(await admin.get(maintenance()), 'Opened');

describe('No Deploy Fridays', () => {
  it('begins each Friday at midnight, and ends with the window', async () => {
    expect(cronJob.spec).toMatchObject({ schedule: '0 0 * * FRI', timeZone: 'Europe/Berlin' });
    expect((await admin.get(maintenance())).spec).toMatchObject({ default: 'opened', window: '24h' });
  });

  it('is closed by the ServiceAccount with the command of the CronJob, which the status records', async () => {
    await isFree(admin, app());
    const annotations = annotationsOfCommand();
    await account.mergePatch(maintenance(), { metadata: { annotations } }, { fieldManager: 'kubectl-annotate' });
    await waitFor(async () => (await opened())?.startsWith('False'), 'the Gate to be closed');
    const { status } = await admin.get(maintenance());
    expect(status).toMatchObject({
      closedBy: `system:serviceaccount:${ns}:${ACCOUNT}`,
      reason: 'No Deploy Fridays',
    });
    const requestedAt = Date.parse(annotations['close.gate.fluxcd.io/requestedAt']!);
    expect(Date.parse(status.resetToDefaultAt)).toBe(requestedAt + 24 * 3_600_000);
    await isHeld(admin, app());
  });

  it('can be opened by users', async () => {
    await requestGate(sre, ns, 'maintenance', 'open');
    await waitFor(async () => (await opened())?.startsWith('True'), 'the Gate to be open');
    await isFree(admin, app());
  });
});

describe('the ServiceAccount', () => {
  it('has the rights of gate-opener in its namespace, and no other', async () => {
    const { object } = await send(account.access, 'POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      body: { spec: { namespace: ns } },
    });
    const everybody = ['authorization.k8s.io', 'authentication.k8s.io'];
    const rules = (object.status.resourceRules as { apiGroups: string[]; resources: string[]; verbs: string[] }[])
      .filter(({ apiGroups }) => !apiGroups.every((group) => everybody.includes(group)))
      .flatMap(({ resources, verbs }) => resources.map((resource) => [resource, [...verbs].sort()]));
    expect(Object.fromEntries(rules)).toEqual({
      gates: ['get', 'list', 'patch', 'update', 'watch'],
      'gates/status': ['get'],
    });
  });
});
