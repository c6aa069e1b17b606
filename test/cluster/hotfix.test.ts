/** A hotfix for one frozen application: one annotation on its Rollout, by a user who may bypass each closed Gate. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeFlux } from '../../dev/actors/fakeFlux.ts';
import {
  type AnyObject,
  gate,
  kustomization,
  ociRepository,
  ref,
  rollout,
  sharedCluster,
  waitFor,
} from './support/cluster.ts';
import { BYPASSED_BY, conditionText, gated, isHeld, requestGate, STATE, SUSPENDED } from './support/gates.ts';
import { conditionOf, history, tagArrives, variablesArrive } from './support/versions.ts';

const view = sharedCluster();
const { admin, developer, sre, dir, newNamespace, publish } = view;
const fake = fakeFlux(view);

const SELECTS_ALL = { spec: { default: 'opened', selects: {} } };
const read = (object: AnyObject) => admin.get(object as never);
const stateOf = async (object: AnyObject) => (await read(object)).metadata.annotations?.[STATE] ?? '';

const hotfix = (version: string, reason: string) => ({
  metadata: {
    annotations: { 'rollout.kuberik.com/force-deploy': version, 'gate.fluxcd.io/bypass-reason': reason },
  },
});

/** Two applications of one namespace and a source that follows no Rollout, all at 1.0.0 and frozen by one Gate. */
async function frozenNamespace() {
  const ns = await newNamespace();
  const app = ref('rollout', ns, 'app');
  const source = ociRepository(ns, 'app', { rollout: 'app' });
  const sync = kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } });
  const neighbour = kustomization(ns, 'web', { variables: { WEB_VERSION: 'web' } });
  const neighbourSource = ociRepository(ns, 'web', { rollout: 'web' });
  const git = gated('GitRepository', ns, 'git');
  const others = [neighbour, neighbourSource, git];
  const frozen = [source, sync, ...others];
  await sre.create(gate(ns, 'freeze', SELECTS_ALL));
  for (const object of frozen) await developer.create(object);
  for (const name of ['app', 'web']) {
    await developer.create(rollout(ns, name));
    await publish(ns, name, '1.0.0');
  }
  for (const name of ['app', 'web']) await tagArrives(admin, ns, name, '1.0.0');
  await waitFor(async () => {
    await fake.reconcile(ns);
    const heads = await Promise.all(['app', 'web'].map((name) => headOf(ns, name)));
    return heads.every(({ appliedTime }) => appliedTime !== undefined);
  }, '1.0.0 to have arrived in both');
  await requestGate(sre, ns, 'freeze', 'close');
  for (const object of frozen) await isHeld(admin, object);
  for (const name of ['app', 'web']) await publish(ns, name, '1.1.0');
  await waits(ns, 'app', '1.1.0');
  await waits(ns, 'web', '1.1.0');
  return { ns, app, source, sync, others };
}

async function headOf(ns: string, name: string): Promise<AnyObject> {
  return (await admin.get(ref('rollout', ns, name))).status?.history?.[0] ?? {};
}

const waits = (ns: string, name: string, version: string) =>
  waitFor(async () => {
    const object = await admin.get(ref('rollout', ns, name));
    expect(object.status.pendingVersion).toBe(version);
    expect(conditionOf(object, 'DeploymentBlocked')).toMatchObject({ status: 'True', reason: 'GateClosed' });
    return true;
  }, `${version} to wait for the gate`);

/** Waits until the object runs though its Gate is closed, with the annotation that holds it again. */
const passes = (object: AnyObject) =>
  waitFor(async () => {
    const live = await read(object);
    expect(live.metadata.annotations).toMatchObject({ [SUSPENDED]: 'unset' });
    expect(live.metadata.annotations?.[STATE]).toMatch(/^bypassing: /);
    expect(live.spec.suspend).toBeUndefined();
    return live;
  }, `${object.kind} ${object.metadata.name} to pass`);

const isOpen = (object: AnyObject) =>
  waitFor(
    async () => (await stateOf(object)) === 'open',
    `${object.kind} ${object.metadata.name} to be held no longer`,
  );

const isHeldAgain = (object: AnyObject) =>
  waitFor(
    async () => (await read(object)).spec.suspend === true && (await stateOf(object)).startsWith('closed: '),
    `${object.kind} ${object.metadata.name} to be held again`,
  );

const audited = (ns: string) =>
  readFileSync(join(dir, 'audit.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"namespace":"${ns}"`) && line.includes('/bypass"'));

describe('a force-deploy with a reason, by a user with the verb bypass', () => {
  it('deploys one version to one frozen application, which is held again once it is applied', async () => {
    const { ns, app, source, sync, others } = await frozenNamespace();
    const before = await Promise.all(others.map(async (object) => (await read(object)).metadata.generation));

    await developer.mergePatch(app, { spec: { bakeTime: '1s' } });
    const { warnings } = await sre.mergePatch(app, hotfix('1.1.0', 'INC-7: login is broken'));
    expect(warnings).toEqual([`version 1.1.0 may bypass the closed Gate ${ns}/freeze, for one deployment`]);
    await tagArrives(admin, ns, 'app', '1.1.0');
    await passes(source);
    // The variable changes after the source has fetched the version.
    await fake.fetch(ns, 'app');
    await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.1.0' });
    await passes(sync);
    const text = `False GateClosed: Reconciliation continues although gate '${ns}/freeze' is closed: it was bypassed.`;
    await waitFor(async () => conditionText(await read(sync), 'Approved') === text, 'the condition to say so');

    await fake.apply(ns, 'app');
    await isHeldAgain(source);
    await isHeldAgain(sync);
    await waitFor(async () => (await headOf(ns, 'app')).bakeStatus === 'Succeeded', 'the bake of 1.1.0');
    expect((await read(source)).spec.ref).toEqual({ tag: '1.1.0' });
    expect((await read(sync)).spec.postBuild.substitute).toEqual({ APP_VERSION: '1.1.0' });
    for (const object of [source, sync]) await isHeld(admin, object);

    const head = await headOf(ns, 'app');
    expect(head).toMatchObject({
      id: 2,
      requestedBy: 'sre',
      bypass: { by: 'sre', reason: 'INC-7: login is broken', gates: [`${ns}/freeze`] },
    });
    expect(head.waitedSeconds).toBeUndefined();
    expect((await admin.get(app)).metadata.annotations?.[BYPASSED_BY]).toMatch(/Z sre$/);
    const said = `sre bypassed ${ns}/freeze (UPDATE, version 1.1.0): INC-7: login is broken`;
    await waitFor(async () => {
      const events = await admin.list('v1', 'Event', ns);
      expect(events.map(({ reason, message }) => [reason, message])).toContainEqual(['GateBypassed', said]);
      expect(audited(ns).join()).toContain(said);
      return true;
    }, 'the Event and the audit annotation');

    expect(await history(admin, ns, 'web')).toEqual([[1, '1.0.0']]);
    expect(await Promise.all(others.map(async (object) => (await read(object)).metadata.generation))).toEqual(before);
    await publish(ns, 'app', '1.2.0');
    await waits(ns, 'app', '1.2.0');
    await requestGate(sre, ns, 'freeze', 'open');
    await tagArrives(admin, ns, 'app', '1.2.0');
    // Some already wait for the artifact of their next version.
    for (const object of [source, sync, ...others]) await isOpen(object);
  });

  it('ends in the first write after the Gate has closed again, also in one of finalizers alone', async () => {
    const { ns, app, source } = await frozenNamespace();
    await sre.mergePatch(app, hotfix('1.1.0', 'INC-8'));
    await passes(source);
    await requestGate(sre, ns, 'freeze', 'close');
    // No decorator has suspended it yet: a flood of such writes would keep it from that.
    const write = { metadata: { finalizers: ['example.com/mine'] } };
    const { object } = await developer.mergePatch(source as never, write);
    expect(object.spec.suspend).toBe(true);
    await developer.mergePatch(source as never, { metadata: { finalizers: null } });
  });
});
