/**
 * A client that reports health into a team's two HealthChecks, by clocks that may be an hour wrong, and deletes and
 * re-creates one of them.
 */

import { ref } from '../../actors/objects.ts';
import type { Random } from '../../actors/random.ts';
import { timestamp } from '../../actors/timestamp.ts';
import type { User } from '../../actors/user.ts';
import type { AnyObject } from '../../client/send.ts';

type Report = 'Healthy' | 'Pending' | 'Unhealthy';

/** The reporter's actions, with weights. `create` deletes the second HealthCheck if it exists. */
const ACTS: Record<Report | 'create', number> = { Healthy: 12, Pending: 3, Unhealthy: 1, create: 1 };
const NAMES = ['app', 'smoke'] as const;
const HOUR_MS = 3_600_000;
const CLOCKS_MS = [0, 0, -HOUR_MS, HOUR_MS];

/** Labels of the HealthChecks. */
export const WATCHED = { app: 'app' };

export function reporterOf(namespace: string, user: User, random: Random) {
  const any = <T>(list: readonly T[]) => list[random.integer(0, list.length - 1)]!;

  async function create(name: string): Promise<void> {
    const check = ref('healthCheck', namespace, name);
    await user.create({ ...check, metadata: { ...check.metadata, labels: WATCHED }, spec: {} } as AnyObject);
  }

  /** Writes a status by docs/healthchecks.md: `lastChangeTime` with each change, `lastErrorTime` with each error. */
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
    /** Makes a report, or deletes or creates the second HealthCheck. */
    act: async () => {
      const act = random.weighted(ACTS);
      if (act !== 'create') return report(any(NAMES), act);
      const second = ref('healthCheck', namespace, NAMES[1]);
      if (await user.find(second)) await user.remove(second);
      else await create(NAMES[1]);
    },
    /** Creates what is missing, and reports Healthy in both. */
    recover: async () => {
      for (const name of NAMES) {
        if (!(await user.find(ref('healthCheck', namespace, name)))) await create(name);
        await report(name, 'Healthy');
      }
    },
    /** Reports an error in the first HealthCheck. */
    fail: () => report(NAMES[0], 'Unhealthy'),
  };
}
