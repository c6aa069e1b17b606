/** What befalls a fleet, by a seed: releases in waves, freezes, restarts of processes, a bypass, an ImagePolicy that somebody deletes. */
import { setTimeout as wait } from 'node:timers/promises';
import { ask } from '../actors/ask.ts';
import { ref } from '../actors/objects.ts';
import type { Random } from '../actors/random.ts';
import type { LocalCluster } from '../local/cluster.ts';
import type { Log } from '../local/process/log.ts';
import { type App, imagePolicyOf, type People, stageBefore, tagOf } from './fleet.ts';
import type { Happening, Ledger } from './ledger.ts';
import { type Mortal, startAgain } from './processes.ts';
import { surely } from './surely.ts';

const MINUTE_MS = 60_000;
const WAVE_MS = 20_000;
/** Of a fleet of FLEET; a smaller one has smaller waves. */
const WAVE = { least: 5, most: 25 };
const FLEET = 500;
/** The share of versions that do not work. */
const BAD = 0.04;
/** Between two openings of a window, each in the next team. */
const WINDOW_MS = 20_000;
const FREEZE = { everyMs: 10 * MINUTE_MS, leastMs: MINUTE_MS, mostMs: 3 * MINUTE_MS, teams: 3 };
/** How soon a freeze has to be everywhere, or over everywhere. */
const FREEZE_PATIENCE_MS = 2 * MINUTE_MS;
/** How long after a bypass its object may change: until it is applied again. */
const BYPASS_MS = 10 * MINUTE_MS;
const RESTART_MS = 15 * MINUTE_MS;
/** Hook server and driver die early: afterwards they live for long while the API server dies around them. */
const RESTARTS: readonly (readonly [Mortal, 'SIGTERM' | 'SIGKILL'])[] = [
  ['hooks', 'SIGTERM'],
  ['hooks', 'SIGKILL'],
  ['driver', 'SIGKILL'],
  ['kube-apiserver', 'SIGTERM'],
  ['kube-apiserver', 'SIGKILL'],
  ['kube-controller-manager', 'SIGTERM'],
  ['kube-apiserver', 'SIGTERM'],
];

export interface World {
  cluster: LocalCluster;
  people: People;
  apps: readonly App[];
  ledger: Ledger;
  log: Log;
}

/** The next version of an application, and of the one that it comes after. */
export async function publish({ people, apps, ledger }: World, app: App, bad: boolean): Promise<void> {
  const stage = stageBefore(app, apps);
  for (const one of stage ? [stage, app] : [app]) {
    const tag = tagOf(one.newest + 1);
    const isAtRest = one.rollout?.status?.history?.[0]?.bakeStatus === 'Succeeded';
    const free = one.kind === 'bake' && isAtRest && !ledger.frozen.has(one.namespace);
    one.releases.set(tag, { app: one.key, tag, bad, free, publishedMs: Date.now() });
    const latestRef = { name: `registry.example/${one.namespace}`, tag };
    await surely(() => people.admin.patchStatus(ref('imagePolicy', one.namespace, one.name), { latestRef }));
    one.newest++;
  }
}

/** All of it for so many minutes, or until the signal. In the end every freeze is over and every process runs. A short time has all of it, faster. */
export async function happen(world: World, minutes: number, dice: () => Random, signal: AbortSignal): Promise<void> {
  const { cluster, people, apps, ledger, log } = world;
  const teams = [...new Set(apps.map(({ namespace }) => namespace))];
  /** Whose ImagePolicy is gone. */
  const broken = new Set<string>();
  const lengthMs = minutes * MINUTE_MS;
  const waveMs = Math.min(WAVE_MS, lengthMs / 10);
  const freezeMs = Math.min(FREEZE.everyMs, lengthMs / 4);
  const restartMs = Math.min(RESTART_MS, lengthMs / 8);
  const pause = (ms: number) => wait(Math.max(0, ms), undefined, { signal }).catch(() => {});
  const pick = <T>(random: Random, list: readonly T[]) => list[random.integer(0, list.length - 1)]!;

  function note(what: Happening['what'], of: string): Happening {
    const happening: Happening = { ms: Date.now(), what, of };
    ledger.happenings.push(happening);
    log(`${what} ${of}`);
    return happening;
  }

  /** Hours do not end with what somebody could not do: it is told in the end. */
  async function told(what: () => Promise<unknown>): Promise<void> {
    await what().catch((error: Error) => ledger.violations.push(`somebody could not go on: ${error.message}`));
  }

  async function waves(random: Random): Promise<void> {
    while (!signal.aborted) {
      const count = Math.max(1, Math.round((random.integer(WAVE.least, WAVE.most) * apps.length) / FLEET));
      for (let i = 0; i < count && !signal.aborted; i++) {
        const app = pick(random, apps);
        const isStage = apps[apps.indexOf(app) - 1]?.kind === 'after';
        const bad = random.next() < BAD && ['bake', 'health'].includes(app.kind);
        if (!broken.has(app.key) && !isStage) await told(() => publish(world, app, bad));
        // Pipelines end one after the other, over half of the time.
        await pause(waveMs / 2 / count);
      }
      await pause(waveMs / 2);
    }
  }

  async function freezes(random: Random): Promise<void> {
    for (let turn = 0; ; turn++) {
      await pause(freezeMs);
      if (signal.aborted) return;
      const first = turn * FREEZE.teams;
      const some = new Set(Array.from({ length: FREEZE.teams }, (_, i) => teams[(first + i) % teams.length]!));
      const held = apps.filter(({ namespace }) => some.has(namespace));
      await told(() => turnFreeze('close', some, held));
      if (turn % 2 === 0) await told(() => bypassGate(pick(random, held)));
      await pause((random.integer(FREEZE.leastMs, FREEZE.mostMs) * freezeMs) / FREEZE.everyMs);
      await told(() => turnFreeze('open', some, held));
    }
  }

  async function turnFreeze(what: 'close' | 'open', some: ReadonlySet<string>, held: readonly App[]): Promise<void> {
    const happening = note(what, [...some].join(' '));
    for (const team of some) {
      ledger.frozen.delete(team);
      await surely(() => ask(people.sre, team, 'freeze', what));
      if (what === 'close') ledger.frozen.set(team, Date.now());
    }
    const isThere = () =>
      held.every(({ kustomization }) => (kustomization?.spec.suspend === true) === (what === 'close'));
    const deadline = Date.now() + FREEZE_PATIENCE_MS;
    while (!isThere() && Date.now() < deadline) await wait(100);
    if (isThere()) happening.overMs = Date.now();
    else ledger.violations.push(`${what} of ${happening.of}: not everywhere within ${FREEZE_PATIENCE_MS / 1000} s`);
  }

  async function bypassGate(app: App): Promise<void> {
    ledger.bypassed.add(app.key);
    // Before the write: an alert may be there before its answer.
    note('bypass', app.key);
    const annotations = { 'gate.fluxcd.io/bypass-reason': `INC-${Date.now()}` };
    const write = { metadata: { annotations }, spec: { path: `./hotfix-${Date.now()}` } };
    await surely(() => people.sre.mergePatch(ref('kustomization', app.namespace, app.name), write));
    setTimeout(() => ledger.bypassed.delete(app.key), BYPASS_MS).unref();
  }

  async function windows(): Promise<void> {
    for (let turn = 0; !signal.aborted; turn++) {
      await told(() => surely(() => ask(people.sre, teams[turn % teams.length]!, 'window', 'open')));
      await pause(WINDOW_MS);
    }
  }

  async function restarts(): Promise<void> {
    for (let turn = 0; ; turn++) {
      await pause(restartMs);
      if (signal.aborted) return;
      const [name, how] = RESTARTS[turn % RESTARTS.length]!;
      const child = name === 'hooks' || name === 'driver' ? cluster[name]() : cluster.child(name);
      const happening = note('restart', `${name} by ${how}`);
      // An API server that is asked to end waits a minute for open watches: as long as its handle lets it.
      if (how === 'SIGTERM') await child?.stop();
      else child?.kill(how);
      await child?.exited;
      await surely(() => startAgain(cluster, name));
      happening.overMs = Date.now();
    }
  }

  /** Somebody deletes an ImagePolicy, and notices after a while. */
  async function mistake(random: Random): Promise<void> {
    await pause(lengthMs / 5);
    if (signal.aborted) return;
    const app = pick(
      random,
      apps.filter(({ kind }, i) => kind === 'bake' && apps[i - 1]?.kind === 'bake'),
    );
    broken.add(app.key);
    await told(() => surely(() => people.admin.remove(ref('imagePolicy', app.namespace, app.name))));
    note('remove', app.key);
    await pause(lengthMs / 5);
    await told(() => surely(() => people.admin.create(imagePolicyOf(app))));
    note('restore', app.key);
    broken.delete(app.key);
    await told(() => publish(world, app, false));
  }

  await Promise.all([waves(dice()), freezes(dice()), windows(), restarts(), mistake(dice())]);
}
