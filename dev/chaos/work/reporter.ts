/** The client that reports the health of a team's application: two HealthChecks, one of which comes and goes, by clocks that may be an hour wrong. */
import { timestamp } from '../../actors/ask.ts';
import { ref } from '../../actors/objects.ts';
import type { Random } from '../../actors/random.ts';
import type { User } from '../../actors/user.ts';
import type { AnyObject } from '../../client/send.ts';

type Report = 'Healthy' | 'Pending' | 'Unhealthy';

/** `create`: the second one, or its deletion where it exists. */
const ACTS: Record<Report | 'create', number> = { Healthy: 12, Pending: 3, Unhealthy: 1, create: 1 };
const NAMES = ['app', 'smoke'] as const;
const HOUR_MS = 3_600_000;
const CLOCKS_MS = [0, 0, -HOUR_MS, HOUR_MS];

/** Labels of the HealthChecks. */
export const WATCHED = { app: 'app' };

export interface Reporter {
  create(): Promise<void>;
  /** One report, or the second HealthCheck is deleted or created. */
  act(): Promise<void>;
  /** Both exist, and report Healthy where they do not yet. */
  recover(): Promise<void>;
  /** The first one reports an error. */
  fail(): Promise<void>;
}

export function reporterOf(namespace: string, user: User, random: Random): Reporter {
  const any = <T>(list: readonly T[]) => list[random.integer(0, list.length - 1)]!;

  async function create(name: string): Promise<void> {
    const check = ref('healthCheck', namespace, name);
    await user.create({ ...check, metadata: { ...check.metadata, labels: WATCHED }, spec: {} } as AnyObject);
  }

  /** docs/healthchecks.md: the time of a change with each change, and that of an error with each error. */
  async function report(name: string, status: Report): Promise<void> {
    const check = ref('healthCheck', namespace, name);
    const before = (await user.get(check)).status?.status;
    if (before === status && status !== 'Unhealthy') return;
    const now = timestamp(user.now() + any(CLOCKS_MS));
    await user.patchStatus(check, {
      status,
      message: `The application is ${status}`,
      ...(before !== status && { lastChangeTime: now }),
      ...(status === 'Unhealthy' && { lastErrorTime: now }),
    });
  }

  return {
    create: async () => {
      for (const name of NAMES) await create(name);
    },
    act: async () => {
      const act = random.weighted(ACTS);
      if (act !== 'create') return report(any(NAMES), act);
      const second = ref('healthCheck', namespace, NAMES[1]);
      if (await user.find(second)) await user.remove(second);
      else await create(NAMES[1]);
    },
    recover: async () => {
      for (const name of NAMES) {
        if (!(await user.find(ref('healthCheck', namespace, name)))) await create(name);
        await report(name, 'Healthy');
      }
    },
    fail: () => report(NAMES[0], 'Unhealthy'),
  };
}
