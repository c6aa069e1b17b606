/** The objects of each command's first example: namespaces for `shop` and `flux-system`, with the named objects. */
import { type ClusterView, gate, kustomization, ref, rollout, rolloutBudget, rolloutGate, waitFor } from './cluster.ts';
import { requestGate } from './gates.ts';
import { nextSecond, type RolloutScenario } from './rolloutScenario.ts';

export interface Stage {
  /** `shop`; the Rollout `my-app` is `app` in it. */
  shop: string;
  /** `flux-system`. */
  flux: string;
  scenario: RolloutScenario;
}

type Setup = (stage: Stage, view: ClusterView) => Promise<unknown>;

/** Deployed one after the other. */
async function runs({ scenario }: Stage, tags: string[], spec: Record<string, unknown> = {}): Promise<void> {
  await scenario.create(spec);
  for (const tag of tags) {
    await scenario.publish(tag);
    await scenario.headIs(tag, 'Succeeded');
  }
}

/** A Rollout that runs 1.1.0, whose `tag` waits for the RolloutGate qa. */
async function waits(stage: Stage, { sre }: ClusterView, tag: string): Promise<void> {
  await runs(stage, ['1.1.0']);
  await sre.create(rolloutGate(stage.shop, 'qa', 'app', { passing: true, allowedVersions: [] }));
  await stage.scenario.publish(tag);
  await stage.scenario.conditionIs('WaitingForRolloutGates', { status: 'True' });
}

/** A Rollout that runs 1.1.0, whose `tag` waits for the closed Gate `flux-system/year-end`. */
async function waitsForGate(stage: Stage, { admin, sre }: ClusterView, tag: string): Promise<void> {
  await admin.create(gate(stage.flux, 'year-end', { spec: { default: 'opened' } }));
  await runs(stage, ['1.1.0'], { gates: [{ name: 'year-end', namespace: stage.flux }] });
  await requestGate(sre, stage.flux, 'year-end', 'close');
  await stage.scenario.publish(tag);
  await stage.scenario.conditionIs('DeploymentBlocked', { status: 'True', reason: 'GateClosed' });
}

/** Ends the bake of the newest version manually, as a user or a dashboard would. */
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

const failed: Setup = async ({ scenario, shop }, view) => {
  await scenario.create({ bakeTime: '1h' });
  await scenario.publish('1.2.0');
  await fails(view, shop, 'app');
  await scenario.headIs('1.2.0', 'Failed');
};

const held: Setup = async ({ shop }, view) => {
  const { admin, developer, sre, publish } = view;
  const spec = { maxConcurrent: 1, maxFailures: 1, selector: { matchLabels: { fleet: shop } } };
  await sre.create(rolloutBudget(shop, 'fleet', spec));
  await publish(shop, 'app', '1.2.0');
  const of = { spec: { releasesImagePolicy: { name: 'app' }, bakeTime: '1h' }, labels: { fleet: shop } };
  await developer.create(rollout(shop, 'canary', of));
  await fails(view, shop, 'canary');
  await developer.create(rollout(shop, 'eu', of));
  await waitFor(async () => {
    const { status } = await admin.get(ref('rolloutBudget', shop, 'fleet'));
    return status?.versions?.some((each: { blocked?: boolean }) => each.blocked);
  }, 'the budget to hold it');
};

const unadopted: Setup = async ({ shop }, { developer, publish }) => {
  await publish(shop, 'app', '2.0.0');
  const running = kustomization(shop, 'app', {});
  const postBuild = { substitute: { APP_VERSION: '1.0.0' } };
  await developer.create({ ...running, spec: { ...running.spec, postBuild } });
};

/** Waits until the Gate's status has the number of held objects, which the command's question contains. */
const counted = ({ admin }: ClusterView, namespace: string, name: string) =>
  waitFor(
    async () => (await admin.get(ref('gate', namespace, name))).status?.requiredByCount !== undefined,
    'what it holds',
  );

export const STAGES: Record<string, Setup> = {
  get: (stage) => runs(stage, ['1.1.0']),
  why: (stage, view) => waits(stage, view, '1.2.0'),
  history: async (stage) => {
    await runs(stage, ['1.0.0']);
    await nextSecond();
    await stage.scenario.publish('1.1.0');
    await stage.scenario.headIs('1.1.0', 'Succeeded');
  },
  audit: (stage) => runs(stage, ['1.1.0']),
  status: (stage) => runs(stage, ['1.2.0']),
  deploy: (stage, view) => waits(stage, view, '1.2.1'),
  pin: (stage) => runs(stage, ['1.1.0', '1.2.0']),
  unpin: async (stage) => {
    await runs(stage, ['1.1.0'], { wantedVersion: '1.1.0' });
    await stage.scenario.publish('1.2.0');
    await waitFor(
      async () => (await stage.scenario.statusOf()).gatedReleaseCandidates?.[0]?.tag === '1.2.0',
      'the candidate',
    );
  },
  withdraw: async (stage) => {
    await runs(stage, ['1.1.0']);
    await stage.scenario.ask({ 'force-deploy': '9.9.9' });
  },
  rollback: (stage) => runs(stage, ['1.0.3', '1.1.0']),
  retry: failed,
  unblock: failed,
  approve: (stage, view) => waits(stage, view, '1.2.0'),
  reject: (stage, view) => waits(stage, view, '1.2.0'),
  bypass: (stage, view) => waitsForGate(stage, view, '1.2.1'),
  continue: held,
  freeze: ({ shop }, { developer }) => developer.create(rollout(shop, 'app')),
  close: ({ flux }, { admin }) => admin.create(gate(flux, 'payments-freeze', { spec: { default: 'opened' } })),
  open: async ({ flux }, view) => {
    await view.admin.create(gate(flux, 'year-end', { spec: { default: 'opened' } }));
    await requestGate(view.sre, flux, 'year-end', 'close');
    await counted(view, flux, 'year-end');
  },
  calendar: async ({ shop }, view) => {
    await view.sre.create(gate(shop, 'sealed', { spec: { default: 'closed' } }));
    await counted(view, shop, 'sealed');
  },
  adopt: unadopted,
};
