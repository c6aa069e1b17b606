/**
 * Decorator, binding and webhook together, for one object of a frozen application during a deployment that bypasses its
 * Gate.
 */
import { describe, expect, it } from 'vitest';
import { AWAITS_ARTIFACT, BYPASSED_GATES } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { DecoratorResponse } from '../../../api/metacontroller.ts';
import type { HistoryEntry, Rollout } from '../../../api/types.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { deployment, gate, kustomization, NOW, ociRepository, owner, rollout } from '../../core/admission/objects.ts';
import { Cluster } from './cluster.ts';

const STATE = 'gate.fluxcd.io/state';
const MEMORY = 'gate.fluxcd.io/suspended';
const HAS_RUN = { lastAppliedRevision: '1.0.0@sha256:1', observedGeneration: 3 };
const TWO_FIELDS = {
  'rollout.kuberik.com/substitute.APP.from': 'my-app',
  'rollout.kuberik.com/substitute.WEB.from': 'web',
  'gate.fluxcd.io/gates': 'freeze',
};

/** `my-app` at 1.1.0 (2), which bypasses shop/freeze. */
function hotfix(head: Partial<HistoryEntry> = {}, gates = 'shop/freeze'): Rollout {
  const base = rollout('my-app', '1.1.0', '1.0.0');
  const [newest, ...older] = base.status!.history!;
  const timestamp = formatTime(NOW - 60_000);
  const annotations = { [BYPASSED_GATES]: `1.1.0 (2) ${timestamp}: ${gates}` };
  return {
    ...base,
    metadata: { ...base.metadata, annotations },
    status: { ...base.status, history: [{ ...newest!, timestamp, ...head }, ...older] },
  };
}

const atOld = {
  annotations: TWO_FIELDS,
  deployed: [deployment('my-app', 1, '1.0.0'), deployment('web', 1, '5.0.0')].join(),
  substitute: { APP: '1.0.0', WEB: '5.0.0' },
  status: HAS_RUN,
};

/** An object held by shop/freeze at my-app 1.0.0 and web 5.0.0; `web` is at 6.0.0, without a bypass. */
async function frozen(object = kustomization(atOld)): Promise<Cluster> {
  const cluster = await Cluster.settled(object, {
    gates: [gate('shop/freeze')],
    rollouts: [rollout('my-app', '1.0.0'), rollout('web', '5.0.0')],
  });
  expect(cluster.object.spec?.suspend).toBe(true);
  cluster.rollouts = [hotfix(), rollout('web', '6.0.0', '5.0.0')];
  return cluster;
}

async function bypassing(): Promise<Cluster> {
  const cluster = await frozen();
  await cluster.settle();
  expect(cluster.object.spec?.suspend).toBeUndefined();
  return cluster;
}

const substituted = ({ spec }: FluxObject) => (spec?.postBuild as { substitute?: object } | undefined)?.substitute;
const runs = ({ object }: Cluster) => object.spec?.suspend !== true;

describe('an object whose deployment bypasses its Gate', () => {
  it('takes the managed field of that Rollout, and runs', async () => {
    const { object, binding } = await bypassing();
    expect(substituted(object)).toEqual({ APP: '1.1.0', WEB: '5.0.0' });
    expect(object.metadata.annotations?.[STATE]).toBe('bypassing: shop/freeze');
    expect(object.metadata.annotations?.[MEMORY]).toBeUndefined();
    expect(binding?.status?.bypassing).toEqual([{ rollout: 'my-app', id: 2, version: '1.1.0', uid: 'uid-my-app' }]);
    expect(binding?.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Approved',
        status: 'False',
        message: "Reconciliation continues although gate 'shop/freeze' is closed: it was bypassed.",
      }),
    );
  });

  it.each<[title: string, end: (cluster: Cluster) => void]>([
    [
      'the deployment has arrived',
      (cluster) => cluster.rollouts.splice(0, 1, hotfix({ appliedTime: '2026-03-04T10:00:00Z' })),
    ],
    ['the deployment has failed', (cluster) => cluster.rollouts.splice(0, 1, hotfix({ bakeStatus: 'Failed' }))],
    [
      'a user retries it after its failure',
      (cluster) => cluster.rollouts.splice(0, 1, hotfix({ lastRetryTimestamp: '2026-03-04T10:00:00Z' })),
    ],
    ['an hour is over', (cluster) => Object.assign(cluster, { now: cluster.now + 3_600_000 })],
    [
      'another closure holds it',
      (cluster) => {
        cluster.gates = [
          gate('shop/freeze', { default: 'opened' }, { 'close.gate.fluxcd.io/requestedAt': '2026-03-04T09:59:30Z' }),
        ];
      },
    ],
  ])('is held again when %s, with the version it has', async (_, end) => {
    const cluster = await bypassing();
    end(cluster);
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(cluster.object.metadata.annotations).toMatchObject({ [STATE]: 'closed: shop/freeze', [MEMORY]: 'unset' });
    expect(substituted(cluster.object)).toEqual({ APP: '1.1.0', WEB: '5.0.0' });
    expect(cluster.binding?.status?.bypassing).toBeUndefined();
  });

  it('takes no other spec, from an apply or an edit', async () => {
    const cluster = await bypassing();
    const edit = { ...cluster.object, spec: { ...cluster.object.spec, path: './evil' } };
    expect(await cluster.write(edit)).toBe(false);
    const managedFields = [{ ...owner('Apply', 'spec.path'), manager: 'kustomize-controller' }];
    const apply = { ...edit, metadata: { ...edit.metadata, managedFields } };
    expect(await cluster.write(apply, { username: 'flux' }, 'kustomize-controller')).toBe(true);
    expect(cluster.object.spec?.path).toBeUndefined();
    expect(runs(cluster)).toBe(true);
  });

  it('stays suspended by a user’s suspension meanwhile, after the freeze too', async () => {
    const cluster = await bypassing();
    expect(await cluster.write({ ...cluster.object, spec: { ...cluster.object.spec, suspend: true } })).toBe(true);
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBe(true);
    cluster.gates = [gate('shop/freeze', { default: 'opened' })];
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBe(true);
  });

  it('is not written again and again by two decorators while the API server does not call the webhook', async () => {
    const cluster = await bypassing();
    const store = ({ annotations }: DecoratorResponse) => {
      const { object } = cluster;
      const all = { ...object.metadata.annotations, ...annotations } as Record<string, string>;
      cluster.object = { ...object, metadata: { ...object.metadata, annotations: all } };
      return annotations;
    };
    const written = [];
    for (let round = 0; round < 5; round++) written.push(store(await cluster.hold()), store(await cluster.decorate()));
    expect(written.filter((annotations) => annotations !== undefined)).toHaveLength(1);
  });
});

describe('an object whose deployment bypasses its Gate while its source fetches the version', () => {
  const source = (tag: string, id: number, fetched = tag) => {
    const status = fetched === tag ? 'True' : 'Unknown';
    const ready = { type: 'Ready', status, reason: '', message: '', lastTransitionTime: '', observedGeneration: 3 };
    const artifact = { revision: `${fetched}@sha256:1`, digest: 'sha256:1' };
    return ociRepository(
      { tag },
      {
        deployed: deployment('my-app', id, tag),
        status: { observedGeneration: 3, artifact, conditions: [ready] },
      },
    );
  };
  const follows = {
    annotations: { 'rollout.kuberik.com/substitute.APP.from': 'my-app', 'gate.fluxcd.io/gates': 'freeze' },
    deployed: deployment('my-app', 1, '1.0.0'),
    substitute: { APP: '1.0.0' },
    spec: { sourceRef: { kind: 'OCIRepository', name: 'web' } },
    status: HAS_RUN,
  };
  const held = () =>
    Cluster.settled(kustomization(follows), {
      gates: [gate('shop/freeze')],
      rollouts: [rollout('my-app', '1.0.0')],
      source: source('1.0.0', 1),
    });
  async function deploy(cluster: Cluster): Promise<void> {
    Object.assign(cluster, { rollouts: [hotfix()], source: source('1.1.0', 2, '1.0.0') });
    await cluster.settle();
    expect(cluster.object.metadata.annotations?.[AWAITS_ARTIFACT]).toBeDefined();
  }
  async function resume(cluster: Cluster): Promise<boolean> {
    cluster.may = ['developer bypass shop/freeze'];
    const { metadata, spec } = cluster.object;
    const annotations = { ...metadata.annotations, 'gate.fluxcd.io/bypass-reason': 'INC-8' };
    return cluster.write({
      ...cluster.object,
      metadata: { ...metadata, annotations },
      spec: { ...spec, suspend: false },
    });
  }
  const fetched = (cluster: Cluster) => Object.assign(cluster, { source: source('1.1.0', 2) });
  const opens = (cluster: Cluster) => Object.assign(cluster, { gates: [gate('shop/freeze', { default: 'opened' })] });

  it.each<[title: string, steps: ((cluster: Cluster) => unknown)[]]>([
    ['the source has it, then the Gate opens', [fetched, (cluster) => cluster.settle(), opens]],
    ['the Gate opens, then the source has it', [opens, (cluster) => cluster.settle(), fetched]],
    ['both between two writes', [opens, fetched]],
  ])('runs after the Gate has opened: %s', async (_, steps) => {
    const cluster = await held();
    await deploy(cluster);
    expect(cluster.object).toMatchObject({ spec: { suspend: true } });
    for (const step of steps) await step(cluster);
    await cluster.settle();
    expect(runs(cluster)).toBe(true);
    expect(substituted(cluster.object)).toEqual({ APP: '1.1.0' });
  });

  it.each<[title: string, steps: ((cluster: Cluster) => Promise<unknown>)[]]>([
    ['before the deployment', [resume, deploy]],
    ['while it fetches', [deploy, resume]],
  ])('runs if a user who may bypass the Gate resumes it %s, and takes the version', async (_, steps) => {
    const cluster = await held();
    for (const step of steps) expect(await step(cluster)).not.toBe(false);
    await cluster.settle();
    expect(cluster.object.metadata.annotations?.[STATE]).toBe('bypassed: shop/freeze');
    fetched(cluster);
    await cluster.settle();
    expect(runs(cluster)).toBe(true);
    expect(substituted(cluster.object)).toEqual({ APP: '1.1.0' });
  });
});

describe('a deployment bypasses no Gate', () => {
  it.each<[title: string, change: (cluster: Cluster) => void]>([
    [
      'that was created behind the closed Gate and has never run',
      (cluster) => Object.assign(cluster.object, { status: {} }),
    ],
    ['where a second Gate is closed', (cluster) => cluster.gates.push(gate('shop/two', { selects: {} }))],
  ])('%s', async (_, change) => {
    const cluster = await frozen();
    change(cluster);
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(substituted(cluster.object)).toEqual({ APP: '1.0.0', WEB: '5.0.0' });
    expect(cluster.binding?.status?.bypassing).toBeUndefined();
    expect(cluster.binding?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'GateClosed' }),
    );
  });

  it('of an object that doesn’t follow its Rollout', async () => {
    const source = ociRepository(
      { tag: '1.0.0' },
      { annotations: { 'gate.fluxcd.io/gates': 'freeze' }, status: { artifact: {} } },
    );
    const cluster = await frozen(source);
    await cluster.settle();
    expect(cluster.object.spec).toMatchObject({ suspend: true, ref: { tag: '1.0.0' } });
  });
});

it('the source that the same Rollout manages takes it too, without a digest that would override the tag', async () => {
  const annotations = { 'rollout.kuberik.com/rollout': 'my-app', 'gate.fluxcd.io/gates': 'freeze' };
  const cluster = await frozen(
    ociRepository({ digest: 'sha256:1' }, { annotations, status: { artifact: { revision: 'x' } } }),
  );
  await cluster.settle();
  expect(cluster.object.spec).toMatchObject({ ref: { tag: '1.1.0' } });
  expect(runs(cluster)).toBe(true);
});
