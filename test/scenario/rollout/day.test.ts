/** A day of 200 releases, failures, retries and hands, with syncs that are lost and syncs that come too late. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import { FIXTURES } from './fixtures.ts';
import { Model } from './model.ts';
import { STEPS } from './steps.ts';
import { World } from './world.ts';

const RELEASES = 200;
const FORWARD = 'Automatic deployment';
/** On the fixed day: whether a failed version's automatic successor has succeeded, and how rollbacks have ended. Another day may have none. */
const FOLLOWED = {
  Hold: { mended: false, rollbacks: [] },
  Continue: { mended: true, rollbacks: [] },
  Rollback: { mended: expect.any(Boolean), rollbacks: expect.arrayContaining(['Succeeded', 'Failed']) },
};
/** `DAY_SEED=17 npx vitest run …/day.test.ts` replays one day. */
const FIXED = 1;
const SEEDS = process.env.DAY_SEED ? [Number(process.env.DAY_SEED)] : [FIXED];

describe.each(SEEDS)('day %i', { timeout: 240_000 }, (seed) => {
  it.each(['Hold', 'Continue', 'Rollback'] as const)(
    'ends with the history that the model has, under %s',
    async (onFailure) => {
      const random = randomFrom(seed);
      const world = new World({ onFailure: 'Continue' });
      await FIXTURES.FB!(world);
      await STEPS.spec!(world, { onFailure, versionHistoryLimit: 1000, availableReleasesMinCount: 1000 });
      const model = new Model(onFailure);
      while (model.newest < RELEASES) {
        await happen(world, model, random);
        await settle(world, random);
        model.settle(world.now / 1000);
        const now = world.rollout.status?.history?.[0];
        const then = model.history[0];
        expect(`${now?.version.tag} ${now?.bakeStatus}`).toBe(
          then ? `1.${then.release}.0 ${then.state}` : 'undefined undefined',
        );
      }
      const history = world.rollout.status!.history!;
      expect(history.map(({ id }) => id)).toEqual(history.map((_, i) => history.length - i));
      expect(history.map(({ version, bakeStatus }) => `${version.tag} ${bakeStatus}`)).toEqual(
        model.history.map(({ release, state }) => `1.${release}.0 ${state}`),
      );
      expect(new Set(history.map(({ bakeStatus }) => bakeStatus)).size).toBeGreaterThanOrEqual(3);
      const followers = history.filter((_, i) => history[i + 1]?.bakeStatus === 'Failed');
      const mended = followers.filter(({ bakeStatus, message }) => message === FORWARD && bakeStatus === 'Succeeded');
      const rollbacks = followers.filter(({ rolledBackFrom }) => rolledBackFrom !== undefined);
      const ends = [...new Set(rollbacks.map(({ bakeStatus }) => bakeStatus))];
      if (seed === FIXED) expect({ mended: mended.length > 0, rollbacks: ends }).toEqual(FOLLOWED[onFailure]);
    },
  );
});

/** One thing happens in the world, and the model is told of it. */
async function happen(world: World, model: Model, random: () => number): Promise<void> {
  world.now += 1000 * (1 + Math.floor(random() * 200));
  const now = world.now / 1000;
  const any = () => 1 + Math.floor(random() * Math.max(1, model.newest));
  const roll = random();
  if (roll < 0.35) {
    model.newest++;
    await STEPS.publish!(world, `1.${model.newest}.0`);
  } else if (roll < 0.75) {
    const sick = random() < 0.25;
    // Not every reporter says when.
    const tells = sick && random() < 0.7;
    model.health = { status: sick ? 'Unhealthy' : 'Healthy', changed: now, error: tells ? now : model.health.error };
    const at = new Date(world.now).toISOString().replace('.000', '');
    await STEPS.health!(world, {
      status: model.health.status,
      lastChangeTime: at,
      ...(tells && { lastErrorTime: at }),
    });
  } else if (roll < 0.8) {
    model.gateOpen = !model.gateOpen;
    await STEPS.rolloutGate!(world, { name: 'qa', passing: model.gateOpen });
  } else if (roll < 0.85) {
    model.pin = model.pin === undefined ? any() : undefined;
    if (model.pin !== undefined) model.force = undefined;
    await STEPS.spec!(world, { wantedVersion: model.pin === undefined ? null : `1.${model.pin}.0` });
  } else if (roll < 0.9 && model.newest > 0 && model.pin === undefined) {
    model.force = any();
    // The same version twice in a row is not a new annotation.
    await STEPS.annotate!(world, { 'force-deploy': null });
    await STEPS.annotate!(world, { 'force-deploy': `1.${model.force}.0` });
  } else if (roll < 0.96) {
    model.retry = true;
    await STEPS.annotate!(world, { retry: '' });
  } else {
    model.unblock = true;
    await STEPS.annotate!(world, { 'unblock-failed': 'true' });
  }
}

/** As Metacontroller syncs: now and then it dies before an answer is written, or works from a Rollout one write old. */
async function settle(world: World, random: () => number): Promise<void> {
  let before = structuredClone(world.rollout);
  for (let pass = 0; pass < 10; pass++) {
    if (random() < 0.1) await world.answer(world.rollout);
    if (random() < 0.1 && before.status?.revision !== world.rollout.status?.revision) await answerLate(world, before);
    before = structuredClone(world.rollout);
    if (!(await world.sync())) return;
  }
  throw new Error('the Rollout does not settle');
}

/** The answer for an older Rollout is refused, unless it says what is stored already; a deployment is not even answered. */
async function answerLate(world: World, older: Rollout): Promise<void> {
  const stored = structuredClone(world.rollout.status);
  const late = await world.answer(older).catch((error) => {
    expect(error).toMatchObject({ status: 429 });
  });
  if (!late) return;
  const changes = late.revision !== older.status?.revision && !isDeepStrictEqual(late, stored);
  if (changes) expect(() => world.store(late)).toThrow('stale status');
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
