/** Many Rollouts of one image in one namespace, and what their monitors report. */
import { setTimeout as wait } from 'node:timers/promises';
import { type AnyObject, type ClusterView, ref, rollout, waitFor } from '../../cluster/support/cluster.ts';
import { objectOf } from '../../support/objects.ts';

export interface Member {
  name: string;
  labels: Record<string, string>;
  after?: readonly string[];
  /** Versions that break it. */
  fails?: readonly string[];
}

/** Every Rollout follows the ImagePolicy `app`, bakes for a second, and begins again after a failure only with another version. */
export async function createFleet({ admin, developer }: ClusterView, ns: string, members: readonly Member[]) {
  for (const { name, labels, after = [], fails = [] } of members) {
    const watched = { healthCheckSelector: { selector: { matchLabels: { 'health-of': name } } } };
    const spec = {
      releasesImagePolicy: { name: 'app' },
      bakeTime: '1s',
      onFailure: 'Continue',
      versionHistoryLimit: 20,
      ...(after.length > 0 && { after: after.map((each) => ({ name: each })) }),
      ...(fails.length > 0 && watched),
    };
    if (fails.length > 0) {
      const metadata = { namespace: ns, name, labels: { 'health-of': name } };
      await admin.create(objectOf('HealthCheck', { metadata, spec: {} }) as AnyObject);
    }
    await developer.create(rollout(ns, name, { labels, spec }));
  }
}

/** Reports health as long as it is not stopped: of each deployment once, an error where the version breaks the Rollout. */
export function monitor({ admin }: ClusterView, ns: string, members: readonly Member[]) {
  const failing = new Map(
    members.flatMap(({ name, fails = [] }) => (fails.length > 0 ? [[name, fails] as const] : [])),
  );
  const done = new AbortController();

  async function report(name: string, tag: string): Promise<void> {
    const at = `${new Date().toISOString().slice(0, 19)}Z`;
    const isBroken = failing.get(name)?.includes(tag);
    const error = isBroken ? { status: 'Unhealthy', lastErrorTime: at } : { status: 'Healthy' };
    await admin.patchStatus(ref('healthCheck', ns, name), { ...error, lastChangeTime: at });
  }

  const loop = (async () => {
    while (!done.signal.aborted) {
      for (const { metadata, status } of await admin.list('kuberik.com/v1alpha1', 'Rollout', ns).catch(() => [])) {
        const head = status?.history?.[0];
        const { name = '' } = metadata;
        const isOnWay = head?.bakeStatus === 'Deploying' || head?.bakeStatus === 'InProgress';
        // Again and again while it lasts: a deployment resets its HealthChecks.
        if (failing.has(name) && isOnWay) await report(name, head.version.tag).catch(() => {});
      }
      await wait(250, undefined, { signal: done.signal }).catch(() => {});
    }
  })();
  return async () => {
    done.abort();
    await loop;
  };
}

/** All heads have the tag, and have Succeeded. */
export async function allHave(
  { admin }: ClusterView,
  ns: string,
  tag: string,
  names?: readonly string[],
): Promise<void> {
  const wanted = names && new Set(names);
  await waitFor(
    async () => {
      const all = await admin.list('kuberik.com/v1alpha1', 'Rollout', ns);
      const behind = all.filter(({ metadata, status }) => {
        const head = status?.history?.[0];
        return (
          (!wanted || wanted.has(metadata.name ?? '')) &&
          !(head?.version.tag === tag && head.bakeStatus === 'Succeeded')
        );
      });
      if (behind.length > 0) throw new Error(behind.map(stateOf).join('; '));
      return true;
    },
    `${tag} to have arrived everywhere`,
    300_000,
  );
}

function stateOf({ metadata, status }: AnyObject): string {
  const head = status?.history?.[0];
  const waits = status?.conditions?.find(({ type, status }: AnyObject) => /^Waiting/.test(type) && status === 'True');
  return `${metadata.name} at ${head?.version.tag} ${head?.bakeStatus} ${waits?.message ?? ''}`;
}
