/**
 * Another mutating webhook of the cluster that changes what a Rollout sets or a Gate holds, after ours. The API server
 * doesn't call our mutating webhook again: the validating one denies the write.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Operation, type OtherWebhook, startOtherWebhook } from '../../dev/local/otherWebhook.ts';
import { type AnyObject, kustomization, ref, rollout, sharedCluster, waitFor } from './support/cluster.ts';
import { gated, isHeld } from './support/gates.ts';
import { variablesArrive } from './support/versions.ts';

const { admin, developer, sre, newNamespace, publish } = sharedCluster();
const VARIABLE = '/spec/postBuild/substitute/APP_VERSION';

let other: OtherWebhook;
let ns: string;
const app = () => ref('kustomization', ns, 'app');
const held = () => gated('Kustomization', ns, 'held', 'freeze');

const gate = (name: string, state: string): any => ({
  apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1',
  kind: 'Gate',
  metadata: { name, namespace: ns },
  spec: { default: state },
});

/** The other webhook's change to each object with its label. */
let change: Operation[] = [];

beforeAll(async () => {
  ns = await newNamespace();
  const labels = { 'test.example.com/namespace': ns };
  other = await startOtherWebhook(admin.access, 'other', labels, { patch: () => change });
  await developer.create(rollout(ns, 'app', { spec: { releasesImagePolicy: { name: 'app' } } }));
  await developer.create(kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } }));
  for (const version of ['1.0.0', '1.1.0']) {
    await publish(ns, 'app', version);
    await variablesArrive(admin, ns, 'app', { APP_VERSION: version });
  }
  await sre.create(gate('freeze', 'closed'));
  await developer.create(held());
  await isHeld(admin, held());
  for (const object of [app(), held()]) await admin.mergePatch(object as never, { metadata: { labels } });
  await waitFor(async () => {
    await admin.mergePatch(app(), { metadata: { annotations: { 'test.example.com/at': String(other.calls()) } } });
    return other.calls() > 1;
  }, 'the API server to call the other webhook');
});
afterAll(() => other?.close());

it.each<[string, () => any, Operation, RegExp]>([
  [
    'the version of a Rollout',
    app,
    { op: 'replace', path: VARIABLE, value: '9.9.9' },
    /set .* to '9.9.9'; Rollout .* has deployed '1.1.0'/,
  ],
  ['the suspension by a Gate', held, { op: 'replace', path: '/spec/suspend', value: false }, /changed spec.suspend/],
  ['the spec of a held object', held, { op: 'replace', path: '/spec/path', value: './other' }, /changed spec.path/],
])('is refused where it changes %s', async (_, object, operation, message) => {
  const before = await admin.get<AnyObject>(object());
  change = [operation];
  const write = admin.mergePatch(object(), { metadata: { finalizers: ['test.example.com/other'] } });
  await expect(write).rejects.toMatchObject({ code: 403, message: expect.stringMatching(message) });
  expect((await admin.get<AnyObject>(object())).spec).toEqual(before.spec);
});

it('is refused where it names a closed Gate on an object that ours has not seen', async () => {
  const value = { 'gate.fluxcd.io/gates': 'freeze' };
  change = [{ op: 'add', path: '/metadata/annotations', value }];
  const created = gated('Kustomization', ns, 'late', undefined, {}, { 'test.example.com/namespace': ns });
  const message = expect.stringMatching(/late' lacks the annotation .* made it require a closed Gate too late/);
  await expect(developer.create(created)).rejects.toMatchObject({ code: 403, message });
});

it('is refused where it removes the state of a new object', async () => {
  change = [{ op: 'remove', path: '/metadata/annotations/gate.fluxcd.io~1state' }];
  const created = gated('Kustomization', ns, 'stripped', 'freeze', {}, { 'test.example.com/namespace': ns });
  const message = expect.stringMatching(/stripped' lacks the annotation .* another mutating webhook removed it/);
  await expect(developer.create(created)).rejects.toMatchObject({ code: 403, message });
});

it('is stored where it changes the spec in the write that suspends the object', async () => {
  change = [];
  await sre.create(gate('later', 'opened'));
  const object = gated('Kustomization', ns, 'running', 'later', {}, { 'test.example.com/namespace': ns });
  await developer.create(object);
  change = [{ op: 'add', path: '/spec/timeout', value: '3m' }];
  await sre.mergePatch(gate('later', 'closed'), { spec: { default: 'closed' } });
  await isHeld(admin, object);
  expect((await admin.get<AnyObject>(object)).spec.timeout).toBe('3m');
});
