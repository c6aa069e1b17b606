/** Applications in every state, beside the demo's own. Users and a registry act, and the hooks produce the states. */
import { setTimeout as wait } from 'node:timers/promises';
import { gate, imagePolicy, kustomization, ref, rollout, rolloutBudget, rolloutGate } from '../../actors/objects.ts';
import { timestamp } from '../../actors/timestamp.ts';
import { User } from '../../actors/user.ts';
import type { Access } from '../../client/kubeconfig.ts';
import type { AnyObject } from '../../client/send.ts';
import { waitFor } from '../process/waitFor.ts';
import { NEIGHBOURS as SHOP } from './objects.ts';

type AccessOf = (user: keyof Users) => Access;

export async function settleNeighbours(accessOf: AccessOf): Promise<void> {
  const users: Users = {
    admin: new User(accessOf('admin')),
    sre: new User(accessOf('sre')),
    developer: new User(accessOf('developer')),
  };
  await users.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } });
  const states = [done, baking, approval, failed, pinned, stages, fleet, unmanaged, unapplied, undeployed];
  await Promise.all(states.map((state) => state(users)));
  // Last: on Fridays and at weekends its Gate is closed, and no version reaches a Kustomization.
  await calendar(users);
  await freeze(users);
}

type Users = Record<'admin' | 'sre' | 'developer', User>;

async function publish({ admin }: Users, policy: string, tag: string): Promise<void> {
  if (!(await admin.find(ref('imagePolicy', SHOP, policy)))) await admin.create(imagePolicy(SHOP, policy));
  const latestRef = { name: `registry.example/${policy}`, tag, digest: null };
  await admin.patchStatus(ref('imagePolicy', SHOP, policy), { latestRef });
}

/** Waits until the newest deployment has the tag, and the bakeStatus if given. */
async function untilDeployed({ admin }: Users, name: string, tag: string, bakeStatus?: string): Promise<void> {
  const isThere = async () => {
    const { status } = await admin.get(ref('rollout', SHOP, name));
    const [head] = status?.history ?? [];
    if (head?.version.tag === tag && (!bakeStatus || head.bakeStatus === bakeStatus)) return true;
    throw new Error(status?.conditions?.find(({ type }: { type: string }) => type === 'Ready')?.message);
  };
  await waitFor(isThere, `${tag} of ${name} is deployed (${bakeStatus ?? 'any'})`);
}

/** An application that has deployed some versions. */
async function deployAll(users: Users, name: string, tags: readonly string[], spec: Record<string, unknown> = {}) {
  const [first = '', ...others] = tags;
  await publish(users, name, first);
  await users.developer.create(rollout(SHOP, name, { spec, labels: { team: 'shop' } }));
  await untilDeployed(users, name, first);
  for (const tag of others) {
    await publish(users, name, tag);
    await untilDeployed(users, name, tag);
  }
}

const patchOf = (name: string) => ref('rollout', SHOP, name);

async function done(users: Users): Promise<void> {
  await deployAll(users, 'catalog', ['2.3.0', '2.3.1', '2.4.0', '2.4.1']);
}

async function baking(users: Users): Promise<void> {
  await deployAll(users, 'search', ['4.1.0', '4.2.0']);
  await users.developer.mergePatch(patchOf('search'), { spec: { bakeTime: '10m' } });
  await publish(users, 'search', '5.0.0');
  await untilDeployed(users, 'search', '5.0.0', 'InProgress');
}

async function approval(users: Users): Promise<void> {
  await deployAll(users, 'payments', ['1.8.0', '1.8.1']);
  await users.sre.create(rolloutGate(SHOP, 'two-of-us', 'payments', { approvals: { required: 2 } }));
  await publish(users, 'payments', '1.9.0');
}

async function failed(users: Users): Promise<void> {
  const labels = { app: 'images' };
  await users.developer.create({
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'HealthCheck',
    metadata: { namespace: SHOP, name: 'images', labels },
    spec: {},
  });
  const report = (status: string, message: string) => {
    const at = timestamp();
    const error = status === 'Unhealthy' ? { lastErrorTime: at } : {};
    return users.admin.patchStatus(ref('healthCheck', SHOP, 'images'), {
      status,
      message,
      lastChangeTime: at,
      ...error,
    });
  };
  await deployAll(users, 'images', ['3.0.0', '3.0.1']);
  const healthCheckSelector = { selector: { matchLabels: labels } };
  await users.developer.mergePatch(patchOf('images'), { spec: { bakeTime: '10m', healthCheckSelector } });
  await publish(users, 'images', '3.1.0');
  await untilDeployed(users, 'images', '3.1.0');
  // A report counts from the second after the apply, an error from the second after the start of the bake.
  await wait(1100);
  await report('Healthy', 'all thumbnails answer');
  await untilDeployed(users, 'images', '3.1.0', 'InProgress');
  await wait(1100);
  await report('Unhealthy', '7 % of thumbnails answer 500');
  await untilDeployed(users, 'images', '3.1.0', 'Failed');
}

async function pinned(users: Users): Promise<void> {
  await deployAll(users, 'mailer', ['1.3.0', '1.4.0']);
  await users.sre.mergePatch(patchOf('mailer'), {
    metadata: { annotations: { 'rollout.kuberik.com/deploy-message': 'leaks memory' } },
    spec: { wantedVersion: '1.3.0' },
  });
  await untilDeployed(users, 'mailer', '1.3.0');
}

/** Rollouts of one image, with staging upstream. */
async function stages(users: Users): Promise<void> {
  const follows = { releasesImagePolicy: { name: 'checkout-staging' } };
  await deployAll(users, 'checkout-staging', ['2.2.4']);
  for (const name of ['checkout-eu', 'checkout-us']) {
    const spec = { ...follows, after: [{ name: 'checkout-staging' }] };
    await users.developer.create(rollout(SHOP, name, { spec }));
    await untilDeployed(users, name, '2.2.4');
  }
  await users.developer.mergePatch(patchOf('checkout-staging'), { spec: { bakeTime: '15m' } });
  await publish(users, 'checkout-staging', '2.3.0');
  await untilDeployed(users, 'checkout-staging', '2.3.0', 'InProgress');
}

const EDGE: [name: string, wave: string][] = [
  ['edge-canary', 'canary'],
  ['edge-berlin', 'eu'],
  ['edge-paris', 'eu'],
  ['edge-tokyo', ''],
];

/** Many Rollouts of one image, with a budget. */
async function fleet(users: Users): Promise<void> {
  await publish(users, 'edge', '0.9.0');
  for (const [name, wave] of EDGE) {
    const labels = { fleet: 'edge', ...(wave && { wave }) };
    await users.developer.create(rollout(SHOP, name, { spec: { releasesImagePolicy: { name: 'edge' } }, labels }));
    await untilDeployed(users, name, '0.9.0');
    await users.developer.mergePatch(patchOf(name), { spec: { bakeTime: name === 'edge-canary' ? '0s' : '20m' } });
  }
  const order = { label: 'wave', values: ['canary', 'eu'] };
  const selector = { matchLabels: { fleet: 'edge' } };
  await users.sre.create(rolloutBudget(SHOP, 'edge', { selector, maxConcurrent: 1, maxFailures: 1, order }));
  await publish(users, 'edge', '1.0.0');
  await untilDeployed(users, 'edge-canary', '1.0.0');
}

async function unmanaged(users: Users): Promise<void> {
  await publish(users, 'reports', '1.4.0');
  const spec = { postBuild: { substitute: { REPORTS_VERSION: '1.4.0' } } };
  await users.developer.create(kustomization(SHOP, 'reports', { spec }));
}

/** A version that Flux doesn't apply, since the Kustomization is suspended. */
async function unapplied(users: Users): Promise<void> {
  const variables = { VERSION: 'accounts' };
  await users.developer.create(kustomization(SHOP, 'accounts', { variables, spec: { suspend: true } }));
  await deployAll(users, 'accounts', ['2.0.0'], { deployTimeout: '15m' });
}

/** Applications without a deployment: one that waits for its RolloutGate, and one without an ImagePolicy. */
async function undeployed(users: Users): Promise<void> {
  await users.sre.create(rolloutGate(SHOP, 'launch', 'invoices', { passing: false }));
  await publish(users, 'invoices', '0.1.0');
  for (const name of ['invoices', 'pricing']) await users.developer.create(rollout(SHOP, name));
}

async function calendar({ sre }: Users): Promise<void> {
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

/** A closed Gate, and a version that waits for it. */
async function freeze(users: Users): Promise<void> {
  await users.sre.create(gate(SHOP, 'month-end', { spec: { default: 'opened', window: '24h' } }));
  await deployAll(users, 'ledger', ['7.2.0', '7.2.1'], { gates: [{ name: 'month-end' }] });
  // A request takes effect in its second.
  await wait(1000);
  await users.sre.mergePatch(ref('gate', SHOP, 'month-end'), {
    metadata: {
      annotations: {
        'close.gate.fluxcd.io/requestedAt': timestamp(),
        'close.gate.fluxcd.io/reason': 'month-end, OPS-311',
      },
    },
  });
  await publish(users, 'ledger', '7.3.0');
}
