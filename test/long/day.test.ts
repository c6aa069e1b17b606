/**
 * A day of eight applications with 120 releases (`DAY_RELEASES`): failures, what follows them, pins, gates, force-deploys, and the death of every process.
 * After each step the cluster must be where an independent model of the rules is; at the end all that was ever stored is judged.
 * `DAY_SEED=17 npx vitest run --project long test/long/day.test.ts` replays a day's choices.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { randomFrom } from '../../dev/actors/random.ts';
import { violations } from '../../dev/chaos/invariants.ts';
import { type Recorder, recordRollouts } from '../../dev/chaos/recorder.ts';
import { type ClusterView, viewCluster } from '../cluster/support/cluster.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';
import { type App, newApp } from './day/app.ts';
import { MORTALS, restart } from './day/restarts.ts';

const RELEASES = Number(process.env.DAY_RELEASES ?? 120);
const APPS = 8;
/** What follows a failed version, by turns. */
const WAYS = ['Hold', 'Continue', 'Rollback'] as const;
/** Releases between two deaths. */
const PEACE = 17;

// CI judges the change at hand, by the same day each time; everybody else meets a new one.
const seed = Number(process.env.DAY_SEED ?? (process.env.CI ? 1 : Math.floor(Math.random() * 1e6)));
let cluster: TestCluster;
let view: ClusterView;
let recorder: Recorder;

beforeEach(async () => {
  process.stderr.write(`DAY_SEED=${seed}\n`);
  cluster = await startTestCluster();
  view = viewCluster(cluster);
  recorder = recordRollouts(cluster.etcdUrl);
});
afterEach(() => cluster?.dispose());

it(`day ${seed} ends as the model says, and no invariant was broken at any time`, async () => {
  const random = randomFrom(seed);
  const apps: App[] = [];
  for (let i = 0; i < APPS; i++) {
    apps.push(await newApp(view, WAYS[i % WAYS.length]!, randomFrom(random.integer(0, 2 ** 31))));
  }
  const released = () => apps.reduce((sum, { model }) => sum + model.newest, 0);
  const each = RELEASES / apps.length;

  let over = false;
  const deaths: string[] = [];
  const misfortune = (async () => {
    // Each process at least once, then whichever the dice say.
    const order = [...MORTALS];
    for (let next = PEACE; !over; next += PEACE) {
      while (!over && released() < next) await new Promise((resolve) => setTimeout(resolve, 50));
      if (over) return;
      const name = order.shift() ?? MORTALS[random.integer(0, 1)]!;
      deaths.push(name);
      await restart(cluster, name);
    }
  })();

  const days = apps.map(async (app) => {
    while (app.model.newest < each) await app.step();
    await app.evening();
  });
  try {
    await Promise.all(days);
  } finally {
    over = true;
    await Promise.allSettled([misfortune, ...days]);
    await Promise.all(apps.map(({ follower }) => follower.stop()));
  }
  await misfortune;
  expect(new Set(deaths)).toEqual(new Set(MORTALS));

  for (const { settled } of apps) await settled();
  await recorder.stop();
  for (const { story, model, happenings } of apps) {
    const versions = recorder.of(story.ns);
    expect(versions.length).toBeGreaterThan(happenings.length / 2);
    expect(violations(versions)).toEqual([]);
    const retries = new Set(
      versions.flatMap(({ status }) => (status?.history ?? []).flatMap((entry: any) => entry.lastRetryTimestamp ?? [])),
    );
    expect(retries.size).toBe(model.retries);
    const requests = model.history.map(({ message }) => message).filter((message) => message.startsWith('request'));
    expect(new Set(requests).size).toBe(requests.length);
  }
  const states = new Set(apps.flatMap(({ model }) => model.history.map(({ state }) => state)));
  expect([...states]).toEqual(expect.arrayContaining(['Succeeded', 'Failed', 'Cancelled']));
  const rollbacks = apps.reduce((sum, { model }) => sum + model.rollbacks, 0);
  const forwards = apps.reduce((sum, { model }) => sum + model.forwards, 0);
  expect(rollbacks).toBeGreaterThan(0);
  expect(forwards).toBeGreaterThan(0);
  expect(writesOfHookServer()).toEqual(new Set(['events']));
  const deployments = apps.reduce((sum, { model }) => sum + model.history.length, 0);
  const steps = apps.reduce((sum, { happenings }) => sum + happenings.length, 0);
  process.stderr.write(
    `${released()} releases, ${deployments} deployments, ${steps} steps, ${rollbacks} rollbacks, ${forwards} failures passed forward, deaths: ${deaths.join(', ')}\n`,
  );
});

/** Kinds that the hook server itself has written, by the audit trail. */
function writesOfHookServer(): Set<string> {
  const lines = readFileSync(join(cluster.dir, 'audit.log'), 'utf8').split('\n').filter(Boolean);
  const writes = ['create', 'update', 'patch', 'delete', 'deletecollection'];
  return new Set(
    lines
      .map((line) => JSON.parse(line))
      .filter(
        ({ user, verb }) =>
          user.username === 'system:serviceaccount:rollout-hooks:rollout-hooks' && writes.includes(verb),
      )
      .map(({ objectRef }) => objectRef.resource)
      .filter((resource) => !resource.endsWith('reviews')),
  );
}
