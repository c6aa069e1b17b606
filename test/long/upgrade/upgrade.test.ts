/**
 * An installation of commit 65e3110 becomes one of today: nothing is deployed again, nothing resumed, no bake begins
 * again, what was closed holds, what was asked for still counts, and what comes next works. In this order: the
 * scenarios go on in one cluster.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeFlux } from '../../../dev/actors/fakeFlux.ts';
import { type LocalCluster, startCluster } from '../../../dev/local/cluster.ts';
import {
  type AnyObject,
  type ClusterView,
  ref,
  staysTrue,
  viewCluster,
  waitFor,
} from '../../cluster/support/cluster.ts';
import { isFree, isHeld, requestGate } from '../../cluster/support/gates.ts';
import { grant } from '../../cluster/support/grant.ts';
import { conditionOf, tagArrives, variablesArrive } from '../../cluster/support/versions.ts';
import { LEFT, leftBehind, restore } from './restore.ts';

const NS = 'shop';
let dir: string;
let cluster: LocalCluster;
let view: ClusterView;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'upgrade-'));
  const options = { dir, metacontroller: process.env.METACONTROLLER || undefined, log: () => {} };
  const before = await startCluster({ ...options, hooks: false });
  await restore(before, viewCluster(before));
  await before.stop();
  cluster = await startCluster(options);
  view = viewCluster(cluster);
});
afterAll(async () => {
  await cluster?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const now = (object: AnyObject): Promise<AnyObject> => view.admin.get(object as never);
const rolloutNow = (name: string) => view.admin.get(ref('rollout', NS, name));
const historyNow = async (name: string): Promise<AnyObject[]> => (await rolloutNow(name)).status.history;
const specsOf = (objects: AnyObject[]) =>
  objects.map(({ kind, metadata: { name, generation }, spec }) => ({ kind, name, generation, spec }));

/** The older version has bound both objects; Flux fetches and applies them. */
async function arrives(name: string, tag: string): Promise<void> {
  const flux = fakeFlux(view);
  await tagArrives(view.admin, NS, name, tag);
  await flux.fetch(NS, name);
  await variablesArrive(view.admin, NS, name, { APP_VERSION: tag });
  await waitFor(
    async () => (await view.admin.get(ref('kustomization', NS, name))).spec.suspend !== true,
    'it to go on',
  );
  await flux.apply(NS, name);
}

const headIs = (name: string, tag: string, expected: object) =>
  waitFor(async () => {
    expect((await historyNow(name))[0]).toMatchObject({ version: { tag }, ...expected });
    return true;
  }, `the head of ${name} to be ${tag}`);

describe('an installation of 65e3110', () => {
  it.each([
    ['waiting', 'WaitingForRolloutGates'],
    ['pinned', 'Pinned'],
    ['baking', 'Progressing'],
  ])('the new version says of %s what the old one had no words for: %s', async (name, type) => {
    expect(conditionOf(leftBehind('Rollout', name), type)).toBeUndefined();
    await waitFor(async () => conditionOf(await rolloutNow(name), type)?.status === 'True', `${type} of ${name}`);
  });

  it('keeps every object of Flux as it is: nothing is deployed, suspended or resumed', async () => {
    const flux = LEFT.filter(
      ({ apiVersion }) => apiVersion.includes('toolkit.fluxcd.io') && !apiVersion.startsWith('gating'),
    );
    const same = async () => {
      expect(specsOf(await Promise.all(flux.map(now)))).toEqual(specsOf(flux));
      return true;
    };
    await staysTrue(same, 'the specs of Flux objects', 5_000);
  });

  it('keeps every history, and the bake that is under way', async () => {
    for (const { metadata, status } of LEFT.filter(({ kind }) => kind === 'Rollout')) {
      expect(await historyNow(metadata.name!), metadata.name).toEqual(status.history);
    }
    const [baking] = await historyNow('baking');
    expect(baking).toMatchObject({ bakeStatus: 'InProgress', bakeStartTime: expect.any(String) });
  });

  it('keeps Gates as they were, with user and reason of the closure', async () => {
    for (const name of ['freeze', 'change-board']) {
      const left = leftBehind('Gate', name);
      const opened = conditionOf(await now(left), 'Opened')!;
      expect(opened).toMatchObject({ status: 'False', reason: conditionOf(left, 'Opened')!.reason });
      expect(opened.lastTransitionTime).toBe(conditionOf(left, 'Opened')!.lastTransitionTime);
    }
  });

  it('a closed Gate still refuses, and names the user', async () => {
    const edit = view.developer.mergePatch(ref('kustomization', NS, 'frozen'), { spec: { suspend: false } });
    await expect(edit).rejects.toMatchObject({ code: 403, message: expect.stringMatching(/sre.*audit/s) });
  });

  it('pending versions stay pending: one of a release, and a force-deploy', async () => {
    expect((await rolloutNow('waiting')).status.releaseCandidates).toMatchObject([{ tag: '1.1.0' }]);
    expect((await rolloutNow('forced')).metadata.annotations).toMatchObject({
      'rollout.kuberik.com/force-deploy': '1.1.0',
    });
  });

  it('the next release is deployed, bakes and is recorded', async () => {
    await view.publish(NS, 'web', '1.3.0');
    await arrives('web', '1.3.0');
    // A report from before the version was applied isn't about it, whatever its time.
    await headIs('web', '1.3.0', { appliedTime: expect.any(String) });
    await view.admin.patchStatus(ref('healthCheck', NS, 'web'), {
      status: 'Healthy',
      lastChangeTime: new Date(Date.now() + 1000).toISOString().replace(/\.\d+/, ''),
    });
    await headIs('web', '1.3.0', { id: 4, bakeStatus: 'Succeeded' });
    expect((await historyNow('web')).slice(1)).toEqual(leftBehind('Rollout', 'web').status.history);
  });

  it('a pinned version stays until it is unpinned; then the newest is deployed', async () => {
    await view.publish(NS, 'pinned', '1.2.0');
    const seen = async () => JSON.stringify((await rolloutNow('pinned')).status).includes('1.2.0');
    await waitFor(seen, 'it to be seen');
    await headIs('pinned', '1.0.0', {});
    await view.developer.mergePatch(ref('rollout', NS, 'pinned'), { spec: { wantedVersion: null } });
    await arrives('pinned', '1.2.0');
    await headIs('pinned', '1.2.0', { bakeStatus: 'Succeeded' });
  });

  it('an opening restores each object that the older version suspended', async () => {
    await requestGate(view.sre, 'platform', 'freeze', 'open');
    await isFree(view.admin, leftBehind('Kustomization', 'frozen'), undefined);
    await isFree(view.admin, leftBehind('Kustomization', 'frozen-stopped'), true);
    await isFree(view.admin, leftBehind('Kustomization', 'frozen-running'), false);
    await isFree(view.admin, leftBehind('HelmRelease', 'frozen'), undefined);
    await isFree(view.admin, leftBehind('GitRepository', 'frozen'), false);
    await isHeld(view.admin, leftBehind('Kustomization', 'named'));
  });

  it('the pending force-deploy is deployed when its Gate opens', async () => {
    await requestGate(view.sre, NS, 'change-board', 'open');
    await isFree(view.admin, leftBehind('Kustomization', 'named'), undefined);
    await arrives('forced', '1.1.0');
    await headIs('forced', '1.1.0', { id: 2, bakeStatus: 'Succeeded' });
  });

  it('the pending version is deployed when its RolloutGate and the schedule allow it', async () => {
    await view.admin.mergePatch(ref('rolloutGate', NS, 'qa'), { spec: { passing: true } });
    await headIs('waiting', '1.0.0', {});
    await view.admin.remove(leftBehind('RolloutSchedule', 'never') as never);
    await arrives('waiting', '1.1.0');
    await headIs('waiting', '1.1.0', { id: 2, bakeStatus: 'Succeeded' });
  });
});

describe('open approvals of 2482c6c9', () => {
  const BOARD = 'board';
  beforeAll(async () => {
    for (const role of ['gate-approver', 'rolloutgate-approver']) await grant(view.admin, BOARD, role, ['bob']);
  });

  it.each([
    ['gate', 'prod', 'gated', 'approve.gate.fluxcd.io/for'],
    ['rolloutGate', 'qa', 'app', 'rollout.kuberik.com/approve'],
  ] as const)('of a %s count on: the second person lets the version through', async (kind, gate, name, annotation) => {
    const rollout = ref('rollout', BOARD, name);
    await waitFor(
      async () => conditionOf(await view.admin.get(rollout), 'DeploymentBlocked')?.message.includes('1 of 2 approvals'),
      `${name} to wait for one more`,
    );
    const patch = { metadata: { annotations: { [annotation]: '1.0.0' } } };
    // The API server's authorizer may not have the binding yet.
    await waitFor(
      async () =>
        (await view.admin.mergePatch(ref(kind, BOARD, gate), patch, { headers: { 'Impersonate-User': 'bob' } })).object,
      'the right to approve',
    );
    const head = await waitFor(async () => (await view.admin.get(rollout)).status?.history?.[0], 'the deployment');
    expect(head).toMatchObject({ version: { tag: '1.0.0' }, approvals: [{ by: 'alice' }, { by: 'bob' }] });
  });
});
