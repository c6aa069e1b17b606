/** A status that somebody else has written, as clients of the Go controller write it: GET, change, PUT, without our fields. */
import { expect, it } from 'vitest';
import { formatTime } from '../../core/kube/time.ts';
import { objectOf } from '../support/objects.ts';
import { type AnyObject, imagePolicy, ref, rollout, sharedCluster, waitFor } from './support/cluster.ts';

const { admin, newNamespace, publish } = sharedCluster();
const ago = (seconds: number) => formatTime(Date.now() - seconds * 1000);
const SELECTOR = { healthCheckSelector: { selector: { matchLabels: { app: 'app' } } } };

interface Seed {
  spec?: object;
  /** The only HealthCheck. */
  health?: () => object;
  status: () => { history?: object[]; availableReleases?: object[] };
  annotations?: Record<string, string>;
  publish?: string;
  /** `id version bakeStatus`, newest first. */
  history: string[];
}

const SEEDS: Record<string, Seed> = {
  'entries without ids': {
    status: () => ({
      history: [{ version: { tag: '1.0.0' }, timestamp: ago(60) }],
      availableReleases: [{ tag: '1.0.0' }],
    }),
    publish: '1.1.0',
    history: ['1 1.1.0 Succeeded', '- 1.0.0 -'],
  },
  'ids that begin with 5': {
    status: () => ({
      history: [{ id: 5, version: { tag: '1.0.0' }, timestamp: ago(60) }],
      availableReleases: [{ tag: '1.0.0' }],
    }),
    publish: '1.1.0',
    history: ['6 1.1.0 Succeeded', '5 1.0.0 -'],
  },
  'releases that the policy does not show': {
    status: () => ({ availableReleases: [{ tag: '1.2.0' }, { tag: 'branch' }, { tag: '1.1.0' }] }),
    history: ['1 1.2.0 Succeeded'],
  },
  'a bake whose time is over': {
    spec: { bakeTime: '5m' },
    status: () => baking(400, 360),
    history: ['1 1.0.0 Succeeded'],
  },
  'a bake with an error in it': {
    spec: { bakeTime: '5m', ...SELECTOR },
    health: () => ({ status: 'Unhealthy', lastErrorTime: ago(60), lastChangeTime: ago(60) }),
    status: () => baking(180, 120),
    history: ['1 1.0.0 Failed'],
  },
  'a bake with an error from before it': {
    spec: { bakeTime: '1m', ...SELECTOR },
    health: () => ({ status: 'Healthy', lastErrorTime: ago(600), lastChangeTime: ago(120) }),
    status: () => baking(180, 120),
    history: ['1 1.0.0 Succeeded'],
  },
  'a failure, and a retry of it': {
    spec: { bakeTime: '5m', onFailure: 'Hold' },
    status: () => ({
      history: [{ id: 1, version: { tag: '1.0.0' }, timestamp: ago(600), bakeStatus: 'Failed', bakeEndTime: ago(60) }],
    }),
    annotations: { 'rollout.kuberik.com/retry': '' },
    history: ['1 1.0.0 InProgress'],
  },
  'a failure, and a way back from it': {
    spec: { bakeTime: '5m', onFailure: 'Rollback' },
    status: () => goodThenBad(),
    publish: '1.2.0',
    history: ['3 1.0.0 InProgress', '2 1.1.0 Failed', '1 1.0.0 Succeeded'],
  },
  'a failure that has broken a check, and its successor': {
    spec: { bakeTime: '5m', onFailure: 'Continue', ...SELECTOR },
    health: () => ({ status: 'Unhealthy', lastErrorTime: ago(120), lastChangeTime: ago(120) }),
    status: () => goodThenBad(),
    publish: '1.2.0',
    history: ['3 1.2.0 Deploying', '2 1.1.0 Failed', '1 1.0.0 Succeeded'],
  },
};

function goodThenBad() {
  return {
    history: [
      { id: 2, version: { tag: '1.1.0' }, timestamp: ago(180), bakeStatus: 'Failed', bakeEndTime: ago(60) },
      { id: 1, version: { tag: '1.0.0' }, timestamp: ago(600), bakeStatus: 'Succeeded', bakeEndTime: ago(300) },
    ],
    availableReleases: [{ tag: '1.0.0' }, { tag: '1.1.0' }],
  };
}

function baking(deployed: number, started: number) {
  const times = { timestamp: ago(deployed), bakeStartTime: ago(started) };
  return { history: [{ id: 1, version: { tag: '1.0.0' }, bakeStatus: 'InProgress', ...times }] };
}

it.each(Object.entries(SEEDS))('%s', async (_, seed) => {
  const ns = await newNamespace();
  await admin.create(imagePolicy(ns, 'app'));
  if (seed.health) {
    const metadata = { name: 'check', namespace: ns, labels: { app: 'app' } };
    const check = objectOf('HealthCheck', { metadata, spec: {} });
    await admin.create(check);
    await putStatus(ref('healthCheck', ns, 'check'), seed.health());
  }
  await admin.create(rollout(ns, 'app', { spec: { ...seed.spec } }));
  await putStatus(ref('rollout', ns, 'app'), seed.status());
  if (seed.annotations) {
    await admin.mergePatch(ref('rollout', ns, 'app'), { metadata: { annotations: seed.annotations } });
  }
  if (seed.publish) await publish(ns, 'app', seed.publish);

  await waitFor(async () => {
    const { status, metadata } = await admin.get(ref('rollout', ns, 'app'));
    const entries = (status?.history ?? []) as AnyObject[];
    expect(entries.map(({ id, version, bakeStatus }) => `${id ?? '-'} ${version.tag} ${bakeStatus ?? '-'}`)).toEqual(
      seed.history,
    );
    for (const used of Object.keys(seed.annotations ?? {})) expect(metadata.annotations).not.toHaveProperty([used]);
    return true;
  }, seed.history.join(', '));
});

/** Replaces the whole status. */
const putStatus = (of: Parameters<typeof admin.get>[0], status: object) =>
  admin.update(of, (object) => Object.assign(object, { status }), { subresource: 'status' });
