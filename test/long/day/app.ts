/** One application on its day: what happens to it, in the cluster and in the model, step by step. */
import { expect } from 'vitest';
import type { Random } from '../../../dev/actors/random.ts';
import {
  type AnyObject,
  type ClusterView,
  gate,
  imagePolicy,
  ref,
  rolloutGate,
  waitFor,
} from '../../cluster/support/cluster.ts';
import { inSeconds, nextSecond, SELECTS_HEALTH, type Story, storyOf } from '../../cluster/support/rolloutStory.ts';
import { Model, type OnFailure } from './model.ts';

const LONG_ENOUGH_MS = 90_000;
const ENDLESS = '24h';
const SHORT = '1s';

type Happening =
  | 'publish'
  | 'healthy'
  | 'error'
  | 'gate'
  | 'freeze'
  | 'bake'
  | 'pin'
  | 'force'
  | 'bypass'
  | 'unblock'
  | 'retry';

/** What is likely depends on what there is to disturb. */
function weights(model: Model): Partial<Record<Happening, number>> {
  const any = { publish: 8, gate: 2, freeze: 1, bake: 2, pin: 2, force: 2, bypass: 2, unblock: 1 };
  if (model.head?.state === 'Deploying') return { ...any, healthy: 16, error: 8, retry: 1 };
  if (model.head?.state === 'InProgress') return { ...any, error: 6, bake: 8, retry: 1 };
  if (model.head?.state === 'Failed') return { ...any, healthy: 6, retry: 6, unblock: 4 };
  const closed = model.gateOpen && model.freezeOpen ? {} : { gate: 6, freeze: model.freezeOpen ? 0 : 6 };
  return { ...any, publish: 16, error: 2, ...(model.health === 'Unhealthy' && { healthy: 10 }), ...closed };
}

export interface App {
  story: Story;
  model: Model;
  happenings: string[];
  /** One thing happens, and everything that follows from it. */
  step(): Promise<void>;
  /** Whatever the day was like, a version succeeds in the end, the next one fails, and another one comes. */
  evening(): Promise<void>;
  /** Waits until the cluster is where the model is. */
  settled(): Promise<void>;
  follower: { stop(): Promise<void> };
}

export async function newApp(view: ClusterView, onFailure: OnFailure, random: Random): Promise<App> {
  const { admin, developer } = view;
  const story = storyOf(view, await view.newNamespace());
  const { ns } = story;
  const model = new Model(onFailure);
  const happenings: string[] = [];
  let reportedAt = 0;
  let serial = 0;

  await admin.create(imagePolicy(ns, 'app'));
  await admin.create(rolloutGate(ns, 'qa', 'app', { passing: true }));
  await admin.create(gate(ns, 'freeze', { spec: { default: 'opened' } }));
  await story.watch();
  await story.bind();
  await story.create({
    ...SELECTS_HEALTH,
    onFailure,
    bakeTime: SHORT,
    gates: [{ name: 'freeze' }],
    versionHistoryLimit: 1000,
    availableReleasesMinCount: 1000,
  });
  const follower = story.flux.follow(ns);

  const tag = (release: number) => `1.${release}.0`;
  /** Whatever is down comes back: until then it is tried again, as people and controllers do. */
  const surely = (write: () => Promise<unknown>) =>
    waitFor(
      async () => {
        await write();
        return true;
      },
      happenings.at(-1) ?? 'a write',
      LONG_ENOUGH_MS,
    );

  async function report(health: 'Healthy' | 'Unhealthy'): Promise<void> {
    await surely(() => story.report(health, { message: `step ${happenings.length}` }));
    reportedAt = Date.now();
    model.report(health);
  }

  const published = () => random.integer(1, Math.max(1, model.newest));
  const message = () => `request ${++serial}`;
  const asRequest = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [`rollout.kuberik.com/${key}`, value]));

  const happen: Record<Happening, () => Promise<unknown>> = {
    publish: async () => {
      await surely(() => story.publish(tag(model.newest + 1)));
      model.publish();
    },
    healthy: () => report('Healthy'),
    error: () => report('Unhealthy'),
    gate: async () => {
      const passing = !model.gateOpen;
      await surely(() => admin.mergePatch(ref('rolloutGate', ns, 'qa'), { spec: { passing } }));
      model.change({ gateOpen: passing });
    },
    freeze: async () => {
      const opened = !model.freezeOpen;
      const spec = { default: opened ? 'opened' : 'closed' };
      await surely(() => admin.mergePatch(ref('gate', ns, 'freeze'), { spec }));
      model.change({ freezeOpen: opened });
    },
    bake: async () => {
      const shortBake = !model.shortBake;
      await surely(() => story.spec({ bakeTime: shortBake ? SHORT : ENDLESS }));
      model.change({ shortBake });
    },
    pin: async () => {
      const pin = model.pin === undefined && model.newest > 0 ? published() : undefined;
      const said = message();
      const annotations = asRequest({ 'deploy-message': said });
      const spec = { wantedVersion: pin === undefined ? null : tag(pin) };
      await surely(() => developer.mergePatch(story.app, { spec, metadata: { annotations } }));
      model.wish(pin, said);
    },
    force: async () => {
      if (model.newest === 0) return;
      const force = published();
      const said = message();
      await surely(() => story.ask({ 'force-deploy': tag(force), 'deploy-message': said }));
      model.ask({ force, message: said });
    },
    bypass: async () => {
      const bypass = random.integer(Math.max(1, model.head?.release ?? 1), model.newest + 1);
      await surely(() => story.ask({ 'bypass-gates': tag(bypass) }));
      model.ask({ bypass });
    },
    unblock: async () => {
      await surely(() => story.ask({ 'unblock-failed': 'true' }));
      model.ask({ unblock: true });
    },
    retry: async () => {
      await surely(() => story.ask({ retry: '' }));
      model.retry();
    },
  };

  const summary = (rollout: AnyObject, health: AnyObject) => ({
    history: (rollout.status?.history ?? []).map(
      ({ id, version, bakeStatus, message }: AnyObject) => `${id} ${version.tag} ${bakeStatus}: ${message}`,
    ),
    arrived: rollout.status?.history?.[0] === undefined || rollout.status.history[0].appliedTime !== undefined,
    observed: rollout.status?.observedGeneration === rollout.metadata.generation,
    releases: rollout.status?.availableReleasesCount ?? 0,
    asked: ['bypass-gates', 'force-deploy', 'deploy-message', 'unblock-failed', 'retry'].filter(
      (key) => rollout.metadata.annotations?.[`rollout.kuberik.com/${key}`] !== undefined,
    ),
    health: health.status?.status ?? 'Pending',
    // Until it is reset, or reported anew, it is that of an earlier deployment.
    healthIsOfNow: (health.status?.lastChangeTime ?? '') >= cutoffOf(rollout),
  });

  const expected = () => ({
    history: model.history.map(({ id, release, state, message }) => `${id} ${tag(release)} ${state}: ${message}`),
    arrived: true,
    observed: true,
    releases: model.newest,
    asked: model.open,
    health: model.health,
    healthIsOfNow: true,
  });

  const settled = async () => {
    await waitFor(
      async () => {
        const [rollout, health] = await Promise.all([admin.get(story.app), admin.get(ref('healthCheck', ns, 'app'))]);
        const found = summary(rollout, health);
        const wanted = expected();
        if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(difference(found, wanted));
        return true;
      },
      `the model's state after ${happenings.slice(-8).join(', ')}`,
      LONG_ENOUGH_MS,
    );
  };

  async function turn(what: Happening): Promise<void> {
    // Stored times have whole seconds: what comes in the second of a report could not be told from it.
    if (Math.floor(Date.now() / 1000) === Math.floor(reportedAt / 1000)) await nextSecond();
    happenings.push(what);
    await happen[what]();
    await settled();
    const underWay = model.history.filter(({ state }) => state === 'Deploying' || state === 'InProgress');
    expect(underWay.length).toBeLessThan(2);
  }

  return {
    story,
    model,
    happenings,
    follower,
    settled,
    step: () => turn(random.weighted(weights(model))),
    evening: async () => {
      if (!model.gateOpen) await turn('gate');
      if (!model.freezeOpen) await turn('freeze');
      if (!model.shortBake) await turn('bake');
      if (model.pin !== undefined) await turn('pin');
      if (model.head?.state === 'Failed') await turn('unblock');
      await turn('publish');
      while (model.baking || model.health === 'Unhealthy') await turn('healthy');
      for (const what of ['publish', 'error', 'publish'] as const) await turn(what);
    },
  };
}

function cutoffOf({ status }: AnyObject): string {
  const { timestamp = '', lastRetryTimestamp = '', appliedTime = '' } = status?.history?.[0] ?? {};
  return [timestamp, lastRetryTimestamp, appliedTime].sort().at(-1) ?? inSeconds(0);
}

/** Of the history only the newest entries: a day has many. */
function difference(found: { history: string[] }, wanted: { history: string[] }): string {
  const short = (state: { history: string[] }) => JSON.stringify({ ...state, history: state.history.slice(0, 3) });
  return `has ${short(found)}, the model ${short(wanted)}`;
}
