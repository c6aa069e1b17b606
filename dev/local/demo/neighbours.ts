/**
 * Other applications beside the one of the demo, so that the page shows what a page is for. Nothing of them is made up: people and a
 * registry do something, and the hooks make of it what they make of it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { timestamp } from '../../actors/timestamp.ts';
import { gate, imagePolicy, kustomization, ref, rollout, rolloutBudget, rolloutGate } from '../../actors/objects.ts';
import { User } from '../../actors/user.ts';
import type { Access } from '../../client/kubeconfig.ts';
import type { AnyObject } from '../../client/send.ts';
import { until } from '../process/until.ts';
import { NEIGHBOURS as SHOP } from './objects.ts';

export async function settleNeighbours(accessOf: (user: keyof People) => Access): Promise<void> {
  const people = {
    admin: new User(accessOf('admin')),
    sre: new User(accessOf('sre')),
    developer: new User(accessOf('developer')),
  };
  await people.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } });
  await calendar(people);
  await Promise.all([done, baking, approval, failed, pinned, stages, fleet, ungoverned].map((each) => each(people)));
  await freeze(people);
}

type People = Record<'admin' | 'sre' | 'developer', User>;

async function publish({ admin }: People, policy: string, tag: string): Promise<void> {
  if (!(await admin.find(ref('imagePolicy', SHOP, policy)))) await admin.create(imagePolicy(SHOP, policy));
  const latestRef = { name: `registry.example/${policy}`, tag, digest: null };
  await admin.patchStatus(ref('imagePolicy', SHOP, policy), { latestRef });
}

/** Until the newest deployment is this one, and its bake as said. */
async function runs({ admin }: People, name: string, tag: string, bakeStatus?: string): Promise<void> {
  let ready = '';
  const isThere = async () => {
    const { status } = await admin.get(ref('rollout', SHOP, name));
    const [head] = status?.history ?? [];
    ready = status?.conditions?.find(({ type }: { type: string }) => type === 'Ready')?.message;
    return (head?.version.tag === tag && (!bakeStatus || head.bakeStatus === bakeStatus)) || undefined;
  };
  await until(`${name} to come to ${tag} (${bakeStatus ?? 'any'})`, isThere, () => ready);
}

/** An application that has gone through some versions. */
async function through(people: People, name: string, tags: readonly string[], spec: Record<string, unknown> = {}) {
  const [first = '', ...others] = tags;
  await publish(people, name, first);
  await people.developer.create(rollout(SHOP, name, { spec, labels: { team: 'shop' } }));
  await runs(people, name, first);
  for (const tag of others) {
    await publish(people, name, tag);
    await runs(people, name, tag);
  }
}

const patchOf = (name: string) => ref('rollout', SHOP, name);

async function done(people: People): Promise<void> {
  await through(people, 'catalog', ['2.3.0', '2.3.1', '2.4.0', '2.4.1']);
}

async function baking(people: People): Promise<void> {
  await through(people, 'search', ['4.1.0', '4.2.0']);
  await people.developer.mergePatch(patchOf('search'), { spec: { bakeTime: '10m' } });
  await publish(people, 'search', '5.0.0');
  await runs(people, 'search', '5.0.0', 'InProgress');
}

async function approval(people: People): Promise<void> {
  await through(people, 'payments', ['1.8.0', '1.8.1']);
  await people.sre.create(rolloutGate(SHOP, 'two-of-us', 'payments', { approvals: { required: 2 } }));
  await publish(people, 'payments', '1.9.0');
}

async function failed(people: People): Promise<void> {
  const labels = { app: 'images' };
  await people.developer.create({
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'HealthCheck',
    metadata: { namespace: SHOP, name: 'images', labels },
    spec: {},
  });
  const report = (status: string, message: string) => {
    const at = timestamp();
    const error = status === 'Unhealthy' ? { lastErrorTime: at } : {};
    return people.admin.patchStatus(ref('healthCheck', SHOP, 'images'), {
      status,
      message,
      lastChangeTime: at,
      ...error,
    });
  };
  await through(people, 'images', ['3.0.0', '3.0.1']);
  const healthCheckSelector = { selector: { matchLabels: labels } };
  await people.developer.mergePatch(patchOf('images'), { spec: { bakeTime: '10m', healthCheckSelector } });
  await publish(people, 'images', '3.1.0');
  await runs(people, 'images', '3.1.0');
  // What is reported counts from the second after the arrival, and an error from that after the bake has begun.
  await wait(1100);
  await report('Healthy', 'all thumbnails answer');
  await runs(people, 'images', '3.1.0', 'InProgress');
  await wait(1100);
  await report('Unhealthy', '7 % of thumbnails answer 500');
  await runs(people, 'images', '3.1.0', 'Failed');
}

async function pinned(people: People): Promise<void> {
  await through(people, 'mailer', ['1.3.0', '1.4.0']);
  await people.sre.mergePatch(patchOf('mailer'), {
    metadata: { annotations: { 'rollout.kuberik.com/deploy-message': 'leaks memory' } },
    spec: { wantedVersion: '1.3.0' },
  });
  await runs(people, 'mailer', '1.3.0');
}

/** The same image, first in staging. */
async function stages(people: People): Promise<void> {
  const follows = { releasesImagePolicy: { name: 'checkout-staging' } };
  await through(people, 'checkout-staging', ['2.2.4']);
  for (const name of ['checkout-eu', 'checkout-us']) {
    const spec = { ...follows, after: [{ name: 'checkout-staging' }] };
    await people.developer.create(rollout(SHOP, name, { spec }));
    await runs(people, name, '2.2.4');
  }
  await people.developer.mergePatch(patchOf('checkout-staging'), { spec: { bakeTime: '15m' } });
  await publish(people, 'checkout-staging', '2.3.0');
  await runs(people, 'checkout-staging', '2.3.0', 'InProgress');
}

const EDGE: [name: string, wave: string][] = [
  ['edge-canary', 'canary'],
  ['edge-berlin', 'eu'],
  ['edge-paris', 'eu'],
  ['edge-tokyo', ''],
];

/** Many of one image, a few at a time. */
async function fleet(people: People): Promise<void> {
  await publish(people, 'edge', '0.9.0');
  for (const [name, wave] of EDGE) {
    const labels = { fleet: 'edge', ...(wave && { wave }) };
    await people.developer.create(rollout(SHOP, name, { spec: { releasesImagePolicy: { name: 'edge' } }, labels }));
    await runs(people, name, '0.9.0');
    await people.developer.mergePatch(patchOf(name), { spec: { bakeTime: name === 'edge-canary' ? '0s' : '20m' } });
  }
  const order = { label: 'wave', values: ['canary', 'eu'] };
  const selector = { matchLabels: { fleet: 'edge' } };
  await people.sre.create(rolloutBudget(SHOP, 'edge', { selector, maxConcurrent: 1, maxFailures: 1, order }));
  await publish(people, 'edge', '1.0.0');
  await runs(people, 'edge-canary', '1.0.0');
}

async function ungoverned(people: People): Promise<void> {
  await publish(people, 'reports', '1.4.0');
  const spec = { postBuild: { substitute: { REPORTS_VERSION: '1.4.0' } } };
  await people.developer.create(kustomization(SHOP, 'reports', { spec }));
}

async function calendar({ sre }: People): Promise<void> {
  const weekend = { daysOfWeek: ['Saturday', 'Sunday'] };
  const evenings = { name: 'Friday afternoon', daysOfWeek: ['Friday'], timeRange: { start: '14:00', end: '00:00' } };
  await sre.create(
    gate(SHOP, 'no-fridays', {
      spec: {
        default: 'opened',
        schedule: { timezone: 'Europe/Berlin', rules: [evenings, weekend] },
        selects: { kinds: ['Kustomization', 'HelmRelease'] },
      },
    }),
  );
  const nights = { timeRange: { start: '20:00', end: '07:00' } };
  await sre.create({
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'RolloutSchedule',
    metadata: { namespace: SHOP, name: 'nights' },
    spec: { rolloutSelector: { matchLabels: { quiet: 'nights' } }, timezone: 'Europe/Berlin', rules: [nights] },
  } as AnyObject);
}

/** Somebody closes a Gate, and a version comes. */
async function freeze(people: People): Promise<void> {
  await people.sre.create(gate(SHOP, 'month-end', { spec: { default: 'opened', window: '24h' } }));
  await through(people, 'ledger', ['7.2.0', '7.2.1'], { gates: [{ name: 'month-end' }] });
  // A request counts from its second on.
  await wait(1000);
  await people.sre.mergePatch(ref('gate', SHOP, 'month-end'), {
    metadata: {
      annotations: {
        'close.gate.fluxcd.io/requestedAt': timestamp(),
        'close.gate.fluxcd.io/reason': 'month-end, OPS-311',
      },
    },
  });
  await publish(people, 'ledger', '7.3.0');
}
