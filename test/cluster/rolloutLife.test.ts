import { describe, expect, it } from 'vitest';
import { objectOf } from '../support/objects.ts';
import {
  type AnyObject,
  gate,
  kustomization,
  ref,
  rollout,
  sharedCluster,
  staysTrue,
  waitFor,
} from './support/cluster.ts';

const { admin, developer, newNamespace, publish } = sharedCluster();

const selected = { healthCheckSelector: { matchLabels: { app: 'app' } } };

/** Reported by somebody else: no class, so the hooks only reset it. */
const healthCheck = (namespace: string): AnyObject =>
  objectOf('HealthCheck', { metadata: { name: 'app', namespace, labels: { app: 'app' } }, spec: {} });

async function report(namespace: string, status: 'Healthy' | 'Unhealthy'): Promise<void> {
  const now = new Date().toISOString();
  const error = status === 'Unhealthy' && { lastErrorTime: now, message: 'smoke' };
  await admin.patchStatus(ref('healthCheck', namespace, 'app'), { status, lastChangeTime: now, ...error });
}

/** Waits for a history such as `1.1.0 Failed, 1.0.0 Succeeded`, and answers the Rollout. */
async function historyIs(namespace: string, expected: string): Promise<AnyObject> {
  let found: AnyObject = {} as AnyObject;
  await waitFor(async () => {
    found = await admin.get(ref('rollout', namespace, 'app'));
    const entries = (found.status?.history ?? []).map(
      ({ version, bakeStatus }: AnyObject) => `${version.tag} ${bakeStatus}`,
    );
    if (entries.join(', ') !== expected) throw new Error(`has ${entries.join(', ')}`);
    return true;
  }, `the history ${expected}`);
  return found;
}

async function annotationsGo(namespace: string): Promise<void> {
  await waitFor(async () => {
    const { annotations = {} } = (await admin.get(ref('rollout', namespace, 'app'))).metadata;
    const left = Object.keys(annotations).filter((key) => !key.startsWith('rollout.kuberik.com/requested-'));
    if (left.length > 0) throw new Error(`has ${left.join(', ')}`);
    return true;
  }, 'the used annotations to go');
}

const annotate = (namespace: string, values: Record<string, string>) => {
  const annotations = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [`rollout.kuberik.com/${key}`, value]),
  );
  return developer.mergePatch(ref('rollout', namespace, 'app'), { metadata: { annotations } });
};

describe("a Rollout's life", () => {
  it('bakes, fails, is retried, and goes on by hand', async () => {
    const ns = await newNamespace();
    await developer.create(healthCheck(ns));
    await developer.create(
      rollout(ns, 'app', {
        spec: { bakeTime: '2s', onFailure: 'Hold', releaseConfigMap: { name: 'release' }, ...selected },
      }),
    );
    await publish(ns, 'app', '1.0.0');
    await historyIs(ns, '1.0.0 Deploying');
    await waitFor(
      async () => (await admin.get(ref('healthCheck', ns, 'app'))).status?.status === 'Pending',
      'the reset',
    );
    await report(ns, 'Healthy');
    await historyIs(ns, '1.0.0 InProgress');
    await historyIs(ns, '1.0.0 Succeeded');
    expect((await admin.get(ref('configMap', ns, 'release'))).data).toMatchObject({ tag: '1.0.0' });

    await publish(ns, 'app', '1.1.0');
    await historyIs(ns, '1.1.0 Deploying, 1.0.0 Succeeded');
    await report(ns, 'Unhealthy');
    const failed = await historyIs(ns, '1.1.0 Failed, 1.0.0 Succeeded');
    expect(failed.status.history[0].failedHealthChecks).toEqual([{ name: 'app', namespace: ns, message: 'smoke' }]);

    // Stored times have whole seconds: an error in the second of the retry would count for the retry.
    const failedAt = Date.now();
    await waitFor(async () => Date.now() > failedAt + 1000, 'the next second');
    await annotate(ns, { retry: '' });
    await annotationsGo(ns);
    await historyIs(ns, '1.1.0 Deploying, 1.0.0 Succeeded');
    await annotate(ns, { 'force-deploy': '1.0.0', 'deploy-user': 'alice@example.com', 'deploy-message': 'back' });
    const back = await historyIs(ns, '1.0.0 Deploying, 1.1.0 Cancelled, 1.0.0 Succeeded');
    expect(back.status.history[0]).toMatchObject({
      id: 3,
      message: 'back',
      triggeredBy: { kind: 'User', name: 'alice@example.com' },
      requestedBy: 'developer',
    });
    await annotationsGo(ns);
  });

  it('starts a bake only when Flux has applied the version, and holds its clock behind a closed Gate', async () => {
    const ns = await newNamespace();
    await admin.create(gate(ns, 'window', { spec: { default: 'opened' } }));
    await developer.create(
      kustomization(ns, 'app', { variables: { VERSION: 'app' }, annotations: { 'gate.fluxcd.io/gates': 'window' } }),
    );
    await developer.create(rollout(ns, 'app', { spec: { bakeTime: '1s' } }));
    await publish(ns, 'app', '1.0.0');
    await historyIs(ns, '1.0.0 Deploying');
    await staysTrue(
      async () => {
        const { status } = await admin.get(ref('rollout', ns, 'app'));
        return status.history[0].bakeStatus === 'Deploying';
      },
      'no bake before the proof',
      1500,
    );

    await admin.mergePatch(ref('gate', ns, 'window'), { spec: { default: 'closed' } });
    await publish(ns, 'app', '1.1.0');
    await waitFor(async () => {
      const { status } = await admin.get(ref('rollout', ns, 'app'));
      return status.history[0].waitingSince !== undefined && status.pendingVersion === '1.1.0';
    }, 'the clock to stand still');
  });

  it('says that a Gate holds a pinned version, and deploys it when the Gate opens', async () => {
    const ns = await newNamespace();
    await admin.create(gate(ns, 'freeze'));
    await developer.create(rollout(ns, 'app', { spec: { gates: [{ name: 'freeze' }], wantedVersion: '1.0.0' } }));
    await publish(ns, 'app', '1.0.0');
    await waitFor(async () => {
      const { status } = await admin.get(ref('rollout', ns, 'app'));
      const blocked = status?.conditions?.find(({ type }: AnyObject) => type === 'DeploymentBlocked');
      return blocked?.reason === 'GateClosed' && status.history === undefined;
    }, 'the Rollout to wait');
    await expect(developer.mergePatch(ref('rollout', ns, 'app'), { spec: { gates: null } })).rejects.toThrow(
      /freeze.*closed/,
    );
    await expect(developer.remove(ref('rollout', ns, 'app'))).rejects.toThrow(/freeze.*closed/);
    await admin.mergePatch(ref('gate', ns, 'freeze'), { spec: { default: 'opened' } });
    await historyIs(ns, '1.0.0 Succeeded');
  });
});
