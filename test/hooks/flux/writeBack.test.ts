/** Decorator, binding and webhook together, for one object whose field Git sets, because of spec.writeBack. */
import { describe, expect, it } from 'vitest';
import { BYPASSED_GATES, DEPLOYED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { Rollout } from '../../../api/types.ts';
import { formatTime } from '../../../core/kube/time.ts';
import {
  APP_PATH,
  deployment,
  gate,
  type KustomizationParts,
  kustomization,
  NOW,
  ociRepository,
  owner,
  rollout,
} from '../../core/admission/objects.ts';
import { Cluster } from './cluster.ts';

const SYNC = { username: 'system:serviceaccount:flux-system:kustomize-controller' };
const GATED = { 'rollout.kuberik.com/substitute.APP.from': 'my-app', 'gate.fluxcd.io/gates': 'freeze' };

function writingBack(...tags: string[]): Rollout {
  const base = rollout('my-app', ...tags);
  return { ...base, spec: { ...base.spec!, writeBack: { imagePolicy: 'my-app-deployed' } } };
}

const byGit = (id: number, version: string) => `${deployment('my-app', id, version)}/git`;
const appOf = ({ spec }: FluxObject) => (spec?.postBuild as { substitute?: Record<string, string> })?.substitute?.APP;
const carriedBy = ({ metadata }: FluxObject) => metadata.annotations?.[DEPLOYED];
const fieldOf = ({ binding }: Cluster) => binding?.status?.fields?.[0];
const ready = ({ binding }: Cluster) => {
  const condition = binding?.status?.conditions?.find(({ type }) => type === 'Ready');
  return condition && `${condition.status}: ${condition.message}`;
};

async function clusterOf(head: Rollout, parts: KustomizationParts = {}): Promise<Cluster> {
  const cluster = new Cluster(kustomization({ substitute: { APP: '1.0.0' }, ...parts }));
  cluster.rollouts = [head];
  cluster.source = { ...ociRepository(null, { annotations: {} }), kind: 'GitRepository' };
  cluster.source.metadata.name = 'shop';
  cluster.source.status = { artifact: { revision: 'main@sha1:1' } };
  await cluster.settle();
  return cluster;
}

/** kustomize-controller applies the object from Git, and then reconciles it. */
async function sync(cluster: Cluster, APP: string | undefined): Promise<void> {
  const { spec } = cluster.object;
  const substitute = APP === undefined ? {} : { APP };
  const managedFields = [{ ...owner('Apply', APP_PATH), manager: 'kustomize-controller' }];
  const metadata = { ...cluster.object.metadata, managedFields };
  const object = { ...cluster.object, metadata, spec: { ...spec, postBuild: { substitute } } };
  await cluster.write(object, SYNC, 'kustomize-controller');
  await cluster.settle();
}

async function applied(cluster: Cluster): Promise<void> {
  const { generation = 0 } = cluster.object.metadata;
  const condition = { reason: 'x', message: '', lastTransitionTime: '', observedGeneration: generation };
  cluster.object.status = {
    observedGeneration: generation,
    lastAppliedRevision: 'main@sha1:1',
    conditions: [{ type: 'Ready', status: 'True', ...condition }],
  };
  await cluster.settle();
}

describe('an object whose field Git sets', () => {
  it('waits for Git, and has the version when Flux has applied Git’s value', async () => {
    const cluster = await clusterOf(writingBack('1.0.0'));
    await applied(cluster);
    expect(fieldOf(cluster)).toMatchObject({ state: 'Applied', version: '1.0.0', writeBack: 'my-app-deployed' });

    cluster.rollouts = [writingBack('1.1.0', '1.0.0')];
    cluster.now += 3_600_000;
    await cluster.settle();
    expect(appOf(cluster.object), 'it is not ours to set').toBe('1.0.0');
    expect(carriedBy(cluster.object)).toBe(byGit(1, '1.0.0'));
    expect(ready(cluster)).toBe(
      "Unknown: waiting for Flux to apply my-app 1.1.0 (2): no commit has set it in Git yet (ImagePolicy 'my-app-deployed' selects it)",
    );

    await sync(cluster, '1.1.0');
    expect(carriedBy(cluster.object)).toBe(byGit(2, '1.1.0'));
    expect(fieldOf(cluster)).toMatchObject({ state: 'Waiting', version: '1.1.0' });
    await applied(cluster);
    expect(fieldOf(cluster)).toMatchObject({ state: 'Applied', version: '1.1.0' });
    expect(cluster.binding?.status?.applied).toMatchObject([{ id: 2, version: '1.1.0' }]);
  });

  it('is rolled back with the Rollout: the same version is another deployment', async () => {
    const cluster = await clusterOf(writingBack('1.1.0', '1.0.0'), { substitute: { APP: '1.1.0' } });
    await applied(cluster);
    cluster.rollouts = [writingBack('1.0.0', '1.1.0', '1.0.0')];
    await cluster.settle();
    expect(fieldOf(cluster)).toMatchObject({ state: 'Waiting', id: 3 });
    await sync(cluster, '1.0.0');
    expect(carriedBy(cluster.object)).toBe(byGit(3, '1.0.0'));
    await applied(cluster);
    expect(fieldOf(cluster)).toMatchObject({ state: 'Applied', id: 3 });
  });

  it('is noted as carrying a deployment of the version that it has already, and that is all that is written', async () => {
    const cluster = await clusterOf(writingBack('1.0.0'));
    const writes = cluster.writes;
    cluster.rollouts = [writingBack('1.0.0', '1.1.0', '1.0.0')];
    await cluster.settle();
    expect(carriedBy(cluster.object)).toBe(byGit(3, '1.0.0'));
    expect(cluster.writes).toBe(writes + 1);
  });

  it.each([
    ['another version', '9.9.9'],
    ['none', undefined],
  ])('says so where Git has %s, before and after the arrival', async (_, value) => {
    const cluster = await clusterOf(writingBack('1.0.0'));
    await sync(cluster, value);
    await applied(cluster);
    expect(appOf(cluster.object)).toBe(value);
    expect(carriedBy(cluster.object)).toBeUndefined();
    expect(fieldOf(cluster)?.state).toBe('Waiting');
    await sync(cluster, '1.0.0');
    await applied(cluster);
    expect(fieldOf(cluster)?.state).toBe('Applied');
    await sync(cluster, value);
    await applied(cluster);
    expect(fieldOf(cluster)?.state).toBe('Waiting');
  });

  it('has a version only when all of its fields have it', async () => {
    const both = {
      'rollout.kuberik.com/substitute.APP.from': 'my-app',
      'rollout.kuberik.com/substitute.OTHER.from': 'my-app',
    };
    const cluster = await clusterOf(writingBack('1.1.0', '1.0.0'), {
      annotations: both,
      substitute: { APP: '1.1.0', OTHER: '1.0.0' },
    });
    await cluster.write({ ...cluster.object, spec: { ...cluster.object.spec, interval: '5m' } });
    await applied(cluster);
    expect(carriedBy(cluster.object)).toBeUndefined();
    expect(cluster.binding?.status?.fields).toMatchObject([{ state: 'Waiting' }, { state: 'Waiting' }]);
  });

  it('may be edited, and keeps a digest with its tag', async () => {
    const cluster = await Cluster.settled(ociRepository({ tag: '1.0.0', digest: 'sha256:1' }), {
      rollouts: [writingBack('1.1.0', '1.0.0')],
    });
    expect(cluster.object.spec?.ref).toEqual({ tag: '1.0.0', digest: 'sha256:1' });
    const ref = { tag: '1.1.0', semver: '*' };
    expect(await cluster.write({ ...cluster.object, spec: { ...cluster.object.spec, ref } })).toBe(true);
    expect(cluster.object.spec?.ref).toEqual(ref);
    expect(cluster.answer?.warnings ?? []).toEqual([]);
  });

  it('stays free when its Rollout is gone, and names its deployment for a re-created one', async () => {
    const cluster = await clusterOf(writingBack('1.1.0', '1.0.0'), { substitute: { APP: '1.1.0' } });
    cluster.rollouts = [];
    await sync(cluster, '1.2.0');
    expect(appOf(cluster.object)).toBe('1.2.0');
    expect(carriedBy(cluster.object)).toBe(byGit(2, '1.2.0'));
  });

  it('is set by the Rollout again without spec.writeBack, and freed again with it', async () => {
    const cluster = await clusterOf(writingBack('1.1.0', '1.0.0'));
    cluster.rollouts = [rollout('my-app', '1.1.0', '1.0.0')];
    await cluster.settle();
    expect(appOf(cluster.object)).toBe('1.1.0');
    expect(carriedBy(cluster.object)).toBe(deployment('my-app', 2, '1.1.0'));
    cluster.rollouts = [writingBack('1.1.0', '1.0.0')];
    await sync(cluster, '1.0.0');
    expect(appOf(cluster.object)).toBe('1.0.0');
    expect(carriedBy(cluster.object)).toBe(byGit(1, '1.0.0'));
  });

  it('does not wait for its source: Git changes both', async () => {
    const cluster = new Cluster(
      kustomization({ substitute: { APP: '1.0.0' }, spec: { sourceRef: { kind: 'OCIRepository', name: 'web' } } }),
    );
    cluster.rollouts = [rollout('my-app', '1.0.0')];
    const status = { observedGeneration: 3, artifact: { revision: '1.0.0@sha256:1' } };
    cluster.source = ociRepository({ tag: '1.0.0' }, { deployed: deployment('my-app', 1, '1.0.0'), status });
    await cluster.settle();
    expect(cluster.object.metadata.annotations).toHaveProperty(['rollout.kuberik.com/artifact'], '1.0.0');
    cluster.rollouts = [writingBack('1.1.0', '1.0.0')];
    await cluster.settle();
    expect(cluster.object.metadata.annotations).not.toHaveProperty(['rollout.kuberik.com/artifact']);
    expect(cluster.object.spec?.suspend).toBeUndefined();
  });

  describe('behind a closed Gate', () => {
    const HAS_RUN = { lastAppliedRevision: 'main@sha1:1', observedGeneration: 3 };
    async function frozen(): Promise<Cluster> {
      const cluster = await clusterOf(writingBack('1.0.0'), { annotations: GATED, status: HAS_RUN });
      cluster.gates = [gate('shop/freeze')];
      await cluster.settle();
      expect(cluster.object.spec?.suspend).toBe(true);
      return cluster;
    }

    it('keeps its value, whatever Git has, and takes Git’s when the Gate is open', async () => {
      const cluster = await frozen();
      cluster.rollouts = [writingBack('1.1.0', '1.0.0')];
      await sync(cluster, '1.1.0');
      expect(appOf(cluster.object)).toBe('1.0.0');
      cluster.gates = [gate('shop/freeze', { default: 'opened' })];
      await cluster.settle();
      await sync(cluster, '1.1.0');
      expect(appOf(cluster.object)).toBe('1.1.0');
      expect(carriedBy(cluster.object)).toBe(byGit(2, '1.1.0'));
    });

    it('takes from Git only the version of the bypass', async () => {
      const cluster = await frozen();
      const head = writingBack('1.1.0', '1.0.0');
      const timestamp = formatTime(NOW - 60_000);
      head.metadata.annotations = { [BYPASSED_GATES]: `1.1.0 (2) ${timestamp}: shop/freeze` };
      head.status!.history![0]!.timestamp = timestamp;
      cluster.rollouts = [head];
      await cluster.settle();
      await sync(cluster, '9.9.9');
      expect(appOf(cluster.object)).toBe('1.0.0');
      await sync(cluster, '1.1.0');
      expect(appOf(cluster.object)).toBe('1.1.0');
      expect(carriedBy(cluster.object)).toBe(byGit(2, '1.1.0'));
      expect(cluster.object.spec?.suspend).toBeUndefined();
    });
  });
});
