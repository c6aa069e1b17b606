/**
 * Who acts on the fleet by what is stored: kustomize-controller, whoever reports health, whoever approves. Each looks at all apps every second
 * and does what is due: what failed while the API server was away is tried again.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { timestamp } from '../actors/ask.ts';
import { conditionAt, conditions } from '../actors/fluxStandIn.ts';
import { ref } from '../actors/objects.ts';
import type { Random } from '../actors/random.ts';
import type { AnyObject } from '../client/send.ts';
import { type App, carried, type People, REVISION } from './fleet.ts';

const TICK_MS = 1000;
const FLUX_INTERVAL_MS = 600_000;
/** How long each takes, in milliseconds: the least and the most. A person takes longest. */
const TIMES = {
  apply: [500, 3000],
  reconcile: [0, 0],
  report: [1000, 4000],
  approve: [5000, 60_000],
} as const;
/** Characters of a refusal. */
const LONGEST = 120;

export interface Actors {
  /** What was done how often. */
  tally: Record<'applied' | 'failed' | 'reconciled' | 'healthy' | 'unhealthy' | 'approved', number>;
  /** What was refused, or not answered, and is tried again: how often, by its message. */
  refusals: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** People take that share of their time. */
export function startActors(people: People, apps: readonly App[], random: Random, share: number): Actors {
  const tally = { applied: 0, failed: 0, reconciled: 0, healthy: 0, unhealthy: 0, approved: 0 };
  const refusals = new Map<string, number>();
  const busy = new Set<string>();
  /** When it is done what has been due since it was first seen. */
  const due = new Map<string, number>();
  const reconcileAt = new Map(apps.map(({ key }) => [key, Date.now() + random.integer(0, FLUX_INTERVAL_MS)]));
  const approveTimes = [TIMES.approve[0] * share, TIMES.approve[1] * share] as const;
  /** The generation that an app's Kustomization could not apply. */
  const failedAt = new Map<string, number>();

  /** Does it once it has been due for a time between the two; whatever goes wrong, it is due again. */
  function act(
    what: string,
    isDue: boolean,
    [leastMs, mostMs]: readonly [number, number],
    work: () => Promise<void>,
  ): void {
    if (!isDue || busy.has(what)) {
      if (!isDue) due.delete(what);
      return;
    }
    const at = due.get(what) ?? Date.now() + random.integer(leastMs, mostMs);
    due.set(what, at);
    if (Date.now() < at) return;
    busy.add(what);
    void work()
      .catch((error: Error) => {
        const text = `${what.split(' ')[0]}: ${error.message.replace(/(app|team)-\d+/g, '$1').slice(0, LONGEST)}`;
        refusals.set(text, (refusals.get(text) ?? 0) + 1);
      })
      .finally(() => {
        due.delete(what);
        busy.delete(what);
      });
  }

  function look(app: App): void {
    const { kustomization, rollout, check } = app;
    if (!kustomization || !rollout) return;
    const { generation } = kustomization.metadata;
    const runs = !kustomization.spec.suspend;
    const behind = runs && kustomization.status?.observedGeneration !== generation;
    const release = app.releases.get(carried(app) ?? '');
    const cannot = app.kind === 'bake' && release?.bad === true;
    if (cannot) act(`fail ${app.key}`, behind && failedAt.get(app.key) !== generation, TIMES.apply, () => fail(app));
    else act(`apply ${app.key}`, behind, TIMES.apply, () => apply(app));
    const atRest = runs && !behind && Date.now() > reconcileAt.get(app.key)!;
    act(`reconcile ${app.key}`, atRest, TIMES.reconcile, () => reconcile(app));
    const head = rollout.status?.history?.[0];
    const asked = check && !['Healthy', 'Unhealthy'].includes(check.status?.status) && head?.appliedTime !== undefined;
    act(`report ${app.key}`, asked === true, TIMES.report, () => report(app));
    const { status } = rollout;
    const waits = app.kind === 'approval' && status?.releaseCandidates?.length > 0;
    act(`approve ${app.key}`, waits, approveTimes, () => approve(app));
  }

  const patch = (app: App, status: object) =>
    people.flux.patchStatus(ref('kustomization', app.namespace, app.name), status);

  async function apply(app: App): Promise<void> {
    const object = app.kustomization!;
    const { generation } = object.metadata;
    const message = `Applied revision: ${REVISION}`;
    const ready = conditionAt(Date, 'Ready', generation, 'True', 'ReconciliationSucceeded', message);
    await patch(app, {
      observedGeneration: generation,
      lastAppliedRevision: REVISION,
      lastAttemptedRevision: REVISION,
      conditions: conditions(object, [ready]).filter(({ type }) => type !== 'Reconciling'),
    });
    tally.applied++;
    await landed(() => app.kustomization?.status?.observedGeneration === generation);
  }

  async function fail(app: App): Promise<void> {
    const object = app.kustomization!;
    const { generation } = object.metadata;
    const ready = conditionAt(
      Date,
      'Ready',
      generation,
      'False',
      'HealthCheckFailed',
      'the version does not become ready',
    );
    await patch(app, { lastAttemptedRevision: REVISION, conditions: conditions(object, [ready]) });
    failedAt.set(app.key, generation ?? 0);
    tally.failed++;
  }

  async function reconcile(app: App): Promise<void> {
    const object = app.kustomization!;
    const { generation } = object.metadata;
    const working = conditionAt(Date, 'Reconciling', generation, 'True', 'Progressing', 'Detecting drift');
    await patch(app, { conditions: conditions(object, [working]) });
    const ready = object.status?.conditions?.filter(({ type }: AnyObject) => type !== 'Reconciling');
    await patch(app, { conditions: ready });
    reconcileAt.set(app.key, Date.now() + FLUX_INTERVAL_MS);
    tally.reconciled++;
  }

  async function report(app: App): Promise<void> {
    const bad = app.releases.get(carried(app) ?? '')?.bad === true;
    const at = timestamp();
    await people.admin.patchStatus(ref('healthCheck', app.namespace, app.name), {
      status: bad ? 'Unhealthy' : 'Healthy',
      message: `${carried(app)} was looked at`,
      lastChangeTime: at,
      ...(bad && { lastErrorTime: at }),
    });
    tally[bad ? 'unhealthy' : 'healthy']++;
    await landed(() => ['Healthy', 'Unhealthy'].includes(app.check?.status?.status));
  }

  async function approve(app: App): Promise<void> {
    const tag = app.rollout?.status?.releaseCandidates?.[0]?.tag;
    const annotations = { 'rollout.kuberik.com/approve': tag, 'rollout.kuberik.com/approve-reason': 'soak' };
    await people.sre.mergePatch(ref('rolloutGate', app.namespace, app.name), { metadata: { annotations } });
    tally.approved++;
    await landed(() => app.rollout?.status?.history?.[0]?.version.tag === tag);
  }

  /** Until what was written is seen, or for a moment: it would be written twice. */
  async function landed(is: () => boolean): Promise<void> {
    for (let left = 20; left > 0 && !is(); left--) await wait(100);
  }

  const timer = setInterval(() => {
    for (const app of apps) look(app);
  }, TICK_MS);
  return {
    tally,
    refusals,
    stop: async () => {
      clearInterval(timer);
      while (busy.size > 0) await wait(100);
    },
  };
}
