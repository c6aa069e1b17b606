/**
 * A budget is never overdrawn and an order never broken, whatever dies: judged from everything that was ever stored.
 * `BUDGET_SEED=17 npx vitest run --project long test/long/budget.test.ts` makes the same choices.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomFrom } from '../../dev/actors/random.ts';
import { recordStored, type StoredVersion } from '../../dev/chaos/recorder.ts';
import { type ClusterView, ref, rolloutGate, viewCluster, waitFor } from '../cluster/support/cluster.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';
import { allHave, createFleet, type Member, monitor } from './budget/fleet.ts';
import { type BudgetRule, judge, type Rules } from './budget/judge.ts';

const seed = Number(process.env.BUDGET_SEED ?? (process.env.CI ? 1 : Math.floor(Math.random() * 1e6)));
const random = randomFrom(seed);
let cluster: TestCluster;
let view: ClusterView;

beforeAll(async () => {
  process.stderr.write(`BUDGET_SEED=${seed}\n`);
  cluster = await startTestCluster();
  view = viewCluster(cluster);
});
afterAll(() => cluster?.dispose());

async function dies(process: 'driver' | 'hooks'): Promise<void> {
  const child = cluster[process]();
  child?.kill('SIGKILL');
  await child?.exited;
  await (process === 'driver' ? cluster.startDriver() : cluster.startHooks());
}

/** `times` deaths at random moments, of the driver or the server. */
async function misfortunes(times: number, apartMs: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const moment = performance.now() + random.integer(apartMs / 4, apartMs);
    await waitFor(() => performance.now() >= moment, 'the moment to strike', 2 * apartMs + 30_000);
    await dies(random.weighted({ driver: 1, hooks: 1 }));
  }
}

/** Records, makes the fleet and its budgets, and judges what was stored in the end. */
async function recorded(members: readonly Member[], rules: Rules, work: (ns: string) => Promise<void>): Promise<void> {
  const ns = await view.newNamespace();
  const stored: StoredVersion[] = [];
  const ours = new RegExp(`^/registry/kuberik[.]com/(rollouts|rolloutbudgets)/${ns}/`);
  const take = (version: StoredVersion) => {
    if (ours.test(version.key)) stored.push(version);
  };
  const { metadata } = await view.admin.get({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } });
  const recorder = recordStored(cluster.etcdUrl, '/registry/kuberik.com/', take, Number(metadata.resourceVersion));
  for (const { name, selects, maxConcurrent, maxFailures, waves } of rules.budgets) {
    const isAll = selects.length === members.length;
    await view.admin.create({
      apiVersion: 'kuberik.com/v1alpha1',
      kind: 'RolloutBudget',
      metadata: { namespace: ns, name },
      spec: {
        selector: isAll ? {} : { matchLabels: { [name]: 'true' } },
        maxConcurrent,
        ...(maxFailures && { maxFailures }),
        ...(waves && { order: { label: 'wave', values: waves.map((_, i) => `wave-${i}`) } }),
      },
    });
  }
  await createFleet(view, ns, members);
  const stopMonitor = monitor(view, ns, members);
  await work(ns);
  await stopMonitor();
  await recorder.stop();
  expect(judge(stored, rules)).toEqual([]);
  const starts = stored.filter(({ key, object }) => key.includes('/rollouts/') && object?.status?.history?.length);
  expect(starts.length, 'something was recorded').toBeGreaterThan(members.length);
}

const waveLabel = (waves: BudgetRule['waves'], name: string): Record<string, string> => {
  const index = waves?.findIndex((wave) => wave.includes(name)) ?? -1;
  return index < 0 ? {} : { wave: `wave-${index}` };
};

/** Says that a version may go on whenever it is held, until `arrived`. */
async function continuing(ns: string, budget: string, version: string, arrived: Promise<void>): Promise<number> {
  let isOver = false;
  let times = 0;
  void arrived.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const held = await waitFor(
      async () => {
        if (isOver) return 'over';
        const { status } = await view.admin.get(budgetRef(ns, budget));
        return status.versions?.some(
          (each: { version: string; held?: boolean }) => each.version === version && each.held,
        )
          ? 'held'
          : undefined;
      },
      'the version to be held, or to have arrived',
      300_000,
    );
    if (held === 'over') break;
    times++;
    const asked = { metadata: { annotations: { 'rollout.kuberik.com/continue': version } } };
    // Refused while the server is dead: a person tries again.
    await waitFor(() => view.admin.mergePatch(budgetRef(ns, budget), asked), 'the request to be taken', 60_000);
    await waitFor(
      async () => {
        const { metadata } = await view.admin.get(budgetRef(ns, budget));
        return !metadata.annotations?.['rollout.kuberik.com/continue'];
      },
      'the request to be used up',
      60_000,
    );
  }
  await arrived;
  return times;
}

const budgetRef = (namespace: string, name: string) => ({
  apiVersion: 'kuberik.com/v1alpha1',
  kind: 'RolloutBudget',
  metadata: { namespace, name },
});

describe('100 Rollouts under a budget of 5', () => {
  const names = Array.from({ length: 100 }, (_, i) => `app-${String(i).padStart(3, '0')}`);
  const waves = [names.slice(0, 4), names.slice(4)];
  const breaking = names.slice(10, 16);
  const members = names.map((name) => ({
    name,
    labels: waveLabel(waves, name),
    ...(breaking.includes(name) && { fails: ['1.1.0'] }),
  }));
  const rules: Rules = {
    budgets: [{ name: 'fleet', selects: names, maxConcurrent: 5, maxFailures: 2, waves }],
    after: {},
  };

  it('are never more than five on their way, and none follows two failures, while driver and server die ten times', async () => {
    await recorded(members, rules, async (ns) => {
      await view.publish(ns, 'app', '1.0.0');
      await Promise.all([allHave(view, ns, '1.0.0'), misfortunes(5, 6000)]);
      await view.publish(ns, 'app', '1.1.0');
      const healthy = names.filter((name) => !breaking.includes(name));
      const [times] = await Promise.all([
        continuing(ns, 'fleet', '1.1.0', allHave(view, ns, '1.1.0', healthy)),
        misfortunes(5, 6000),
      ]);
      expect(times, 'how often somebody had to say go on').toBeGreaterThan(0);
    });
  });
});

describe.each([1, 2])('random order, budgets and failures %i', () => {
  it('are kept while driver and server die, and everything arrives once all gates are open', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `app-${i}`);
    const waves = [names.slice(0, 4), names.slice(4, 8), names.slice(8)];
    const few = names.filter(() => random.next() < 0.4);
    const budgets: BudgetRule[] = [
      {
        name: 'all',
        selects: names,
        maxConcurrent: random.integer(2, 4),
        ...(random.next() < 0.7 && { maxFailures: random.integer(1, 3) }),
        ...(random.next() < 0.5 && { waves }),
      },
      { name: 'few', selects: few, maxConcurrent: random.integer(1, 2) },
    ];
    // From low to high: without a cycle, and never against the waves.
    const after = Object.fromEntries(
      names.map((name, i) => [name, names.slice(0, i).filter(() => random.next() < 1 / (i + 1))]),
    );
    const members = names.map((name) => ({
      name,
      labels: { ...waveLabel(budgets[0]?.waves, name), ...(few.includes(name) && { few: 'true' }) },
      after: after[name] ?? [],
      ...(random.next() < 0.25 && { fails: ['1.1.0'] }),
    }));
    await recorded(members, { budgets, after }, async (ns) => {
      const held = names[random.integer(0, names.length - 1)] ?? '';
      await view.admin.create(rolloutGate(ns, 'closed', held, { passing: false }));
      await view.publish(ns, 'app', '1.0.0');
      await misfortunes(1, 3000);
      const open = { spec: { passing: true } };
      await waitFor(() => view.admin.mergePatch(ref('rolloutGate', ns, 'closed'), open), 'the gate to open', 60_000);
      await allHave(view, ns, '1.0.0');
      await view.publish(ns, 'app', '1.1.0');
      await misfortunes(2, 4000);
      await view.publish(ns, 'app', '1.2.0');
      await allHave(view, ns, '1.2.0');
    });
  });
});
