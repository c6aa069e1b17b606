/** What each command's examples find: a namespace for `shop`, one for `flux-system`, and in them what the examples name. */
import { objectOf } from '../../support/objects.ts';
import {
  type AnyObject,
  type ClusterView,
  gate,
  kustomization,
  ref,
  rollout,
  rolloutBudget,
  rolloutGate,
  waitFor,
} from './cluster.ts';
import { ask } from './gates.ts';
import { nextSecond, type Story } from './rolloutStory.ts';

export interface Stage {
  /** `shop`; the Rollout `my-app` is `app` in it. */
  shop: string;
  /** `flux-system`. */
  flux: string;
  story: Story;
}

type Setup = (stage: Stage, view: ClusterView, line: string) => Promise<unknown>;

/** Deployed one after the other. */
async function runs({ story }: Stage, tags: string[], spec: Record<string, unknown> = {}): Promise<void> {
  await story.create(spec);
  for (const tag of tags) {
    await story.publish(tag);
    await story.headIs(tag, 'Succeeded');
  }
}

/** It runs 1.1.0, and `tag` waits at the RolloutGate qa. */
async function waits(stage: Stage, { sre }: ClusterView, tag: string): Promise<void> {
  await runs(stage, ['1.1.0']);
  await sre.create(rolloutGate(stage.shop, 'qa', 'app', { passing: true, allowedVersions: [] }));
  await stage.story.publish(tag);
  await stage.story.conditionIs('WaitingForRolloutGates', { status: 'True' });
}

/** It runs 1.1.0, and `tag` waits for the closed Gate `flux-system/year-end`. */
async function waitsForGate(stage: Stage, { admin, sre }: ClusterView, tag: string): Promise<void> {
  await admin.create(gate(stage.flux, 'year-end', { spec: { default: 'opened' } }));
  await runs(stage, ['1.1.0'], { gates: [{ name: 'year-end', namespace: stage.flux }] });
  await ask(sre, stage.flux, 'year-end', 'close');
  await stage.story.publish(tag);
  await stage.story.conditionIs('DeploymentBlocked', { status: 'True', reason: 'GateClosed' });
}

/** The bake of its newest version is ended by hand, as a person or a dashboard would. */
async function fails({ admin }: ClusterView, namespace: string, name: string): Promise<void> {
  await waitFor(async () => {
    const { status } = await admin.get(ref('rollout', namespace, name));
    const [head, ...older] = status?.history ?? [];
    if (head?.bakeStatus !== 'InProgress') return false;
    await admin.patchStatus(ref('rollout', namespace, name), {
      history: [{ ...head, bakeStatus: 'Failed' }, ...older],
    });
    return true;
  }, `the bake of ${name} to be ended`);
}

const failed: Setup = async ({ story, shop }, view) => {
  await story.create({ bakeTime: '1h' });
  await story.publish('1.2.0');
  await fails(view, shop, 'app');
  await story.headIs('1.2.0', 'Failed');
};

const closedGate =
  (name: string): Setup =>
  async ({ flux }, { admin, sre }) => {
    await admin.create(gate(flux, name, { spec: { default: 'opened' } }));
    await ask(sre, flux, name, 'close');
    await counted(admin, flux, name);
  };

/** What a Gate holds is said with its question. */
const counted = (admin: ClusterView['admin'], namespace: string, name: string) =>
  waitFor(async () => (await admin.get(ref('gate', namespace, name))).status?.held !== undefined, 'what it holds');

const held: Setup = async ({ shop }, view, line) => {
  const { admin, developer, sre, publish } = view;
  const isOfCluster = line.includes('clusterrolloutbudget');
  const name = isOfCluster ? `fleet-${shop}` : 'fleet';
  const spec = { maxConcurrent: 1, maxFailures: 1, selector: { matchLabels: { fleet: shop } } };
  await sre.create(rolloutBudget(isOfCluster ? undefined : shop, name, spec));
  await publish(shop, 'app', '1.2.0');
  const of = { spec: { releasesImagePolicy: { name: 'app' }, bakeTime: '1h' }, labels: { fleet: shop } };
  await developer.create(rollout(shop, 'canary', of));
  await fails(view, shop, 'canary');
  await developer.create(rollout(shop, 'eu', of));
  await waitFor(async () => {
    const { status } = await admin.get(
      ref(isOfCluster ? 'clusterRolloutBudget' : 'rolloutBudget', isOfCluster ? undefined : shop, name),
    );
    return status?.versions?.some((each: { held?: boolean }) => each.held);
  }, 'the budget to hold it');
};

const frozen: Setup = async ({ shop, story }, { sre, admin }) => {
  await story.create();
  await sre.create(gate(shop, 'incident', { spec: { default: 'opened', selects: { kinds: ['Rollout'] } } }));
  await ask(sre, shop, 'incident', 'close');
  await waitFor(async () => (await admin.get(ref('gate', shop, 'incident'))).status?.held === 1, 'what it holds');
};

const unadopted: Setup = async ({ shop, story }, { developer, publish }) => {
  await publish(shop, 'app', '2.0.0');
  const running = kustomization(shop, 'app', {});
  await developer.create({
    ...running,
    spec: { ...running.spec, postBuild: { substitute: { APP_VERSION: '1.0.0' } } },
  });
  const source = objectOf('OCIRepository', { metadata: { namespace: shop, name: 'app' } } as never) as AnyObject;
  await developer.create({
    ...source,
    spec: { interval: '1m', url: 'oci://registry.example.com/app', ref: { tag: '1.0.0' } },
  });
  await story.flux.fetch(shop, 'app');
  await story.flux.apply(shop, 'app');
};

export const STAGES: Record<string, Setup> = {
  get: async (stage, { admin }) => {
    await runs(stage, ['1.1.0']);
    await admin.mergePatch(stage.story.app, { metadata: { labels: { team: stage.shop } } });
  },
  why: async (stage, view, line) => {
    if (line.includes('gate/')) return closedGate('year-end')(stage, view, line);
    if (line.includes('kustomization/')) {
      const web = kustomization(stage.shop, 'web', {});
      return view.developer.create({ ...web, spec: { ...web.spec, suspend: true } });
    }
    return waits(stage, view, '1.2.0');
  },
  history: async (stage) => {
    await runs(stage, ['1.0.0']);
    await nextSecond();
    await stage.story.publish('1.1.0');
    await stage.story.headIs('1.1.0', 'Succeeded');
  },
  status: (stage) => runs(stage, ['1.2.0']),
  deploy: (stage, view) => waits(stage, view, '1.2.1'),
  pin: (stage) => runs(stage, ['1.1.0', '1.2.0']),
  unpin: async (stage) => {
    await runs(stage, ['1.1.0'], { wantedVersion: '1.1.0' });
    await stage.story.publish('1.2.0');
    await waitFor(
      async () => (await stage.story.statusOf()).gatedReleaseCandidates?.[0]?.tag === '1.2.0',
      'the candidate',
    );
  },
  rollback: (stage) => runs(stage, ['1.0.3', '1.1.0']),
  retry: failed,
  unblock: failed,
  withdraw: async (stage, { admin, sre }, line) => {
    await runs(stage, ['1.1.0']);
    if (!line.includes('rolloutgate/')) {
      return admin.mergePatch(stage.story.app, {
        metadata: { annotations: { 'rollout.kuberik.com/force-deploy': '9.9.9' } },
      });
    }
    const approvals = { approvals: { required: 2 } };
    await admin.create(rolloutGate(stage.shop, 'qa', 'app', approvals));
    await stage.story.publish('1.2.0');
    await waitFor(async () => (await stage.story.statusOf()).pendingVersion === '1.2.0', 'the version to wait');
    const annotations = { 'rollout.kuberik.com/approve': '1.2.0' };
    await sre.mergePatch(ref('rolloutGate', stage.shop, 'qa'), { metadata: { annotations } });
  },
  approve: (stage, view, line) => (line.includes('gate/year-end') ? waitsForGate : waits)(stage, view, '1.2.0'),
  reject: (stage, view) => waits(stage, view, '1.2.0'),
  bypass: async (stage, view, line) => {
    if (!line.includes('kustomization/')) return waitsForGate(stage, view, '1.2.1');
    await closedGate('year-end')(stage, view, line);
    const annotations = { 'gate.fluxcd.io/gates': `${stage.flux}/year-end` };
    await view.developer.create(kustomization(stage.shop, 'web', { annotations }));
    await waitFor(
      async () => (await view.admin.get(ref('kustomization', stage.shop, 'web'))).spec.suspend === true,
      'web to be held',
    );
  },
  continue: held,
  open: (stage, view, line) => (line.includes('year-end') ? closedGate('year-end') : frozen)(stage, view, line),
  close: async (stage, { admin }, line) => {
    if (!line.includes('payments-freeze')) return runs(stage, ['1.1.0']);
    await admin.create(gate(stage.flux, 'payments-freeze', { spec: { default: 'opened' } }));
  },
  calendar: async ({ shop }, { admin, sre }) => {
    await sre.create(gate(shop, 'sealed', { spec: { default: 'closed' } }));
    await counted(admin, shop, 'sealed');
  },
  audit: (stage) => runs(stage, ['1.1.0']),
  doctor: (stage) => runs(stage, ['1.1.0']),
  adopt: unadopted,
  completion: async () => {},
};
