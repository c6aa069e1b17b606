/** One soak on a cluster that is there: a fleet grows, lives for so many minutes, comes to rest, and is judged. */
import { setTimeout as wait } from 'node:timers/promises';
import { ref } from '../actors/objects.ts';
import { randomFrom } from '../actors/random.ts';
import { User } from '../actors/user.ts';
import { quantile } from '../bench/measure.ts';
import { recordStored } from '../chaos/recorder.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { startKubeStateMetrics } from '../local/monitoring/kubeStateMetrics.ts';
import { hooksHost, type Prometheus, startPrometheus } from '../local/monitoring/prometheus.ts';
import type { Log } from '../local/process/log.ts';
import { startActors } from './actors.ts';
import { explain, firingsOf, type JudgedAlert, missed, NUMBERS, type Story } from './alerts.ts';
import { type App, createFleet, planFleet } from './fleet.ts';
import { happen, publish, type World } from './happenings.ts';
import { type Happening, newLedger } from './ledger.ts';
import { judgeMemory, type MemoryLine } from './memory.ts';
import { lagOf, type Observed, startObserver } from './observer.ts';
import { mindProcesses } from './processes.ts';
import { judgeReleases, type ReleaseCounts, unsettled } from './releases.ts';
import { surely } from './surely.ts';

export interface SoakOptions {
  minutes: number;
  fleet: number;
  seed: number;
  /** Seconds in which everything has to arrive, in the beginning and in the end. */
  patience: number;
  /** Where all that is known is written every minute. */
  out?: string | undefined;
  /** What share of their time bakes and people take, and how often metrics are scraped. */
  pace?: { share: number; scrapeSeconds: number };
  log: Log;
  signal: AbortSignal;
}

export interface SoakResult extends Omit<Observed, 'samples' | 'loads'> {
  driver: string;
  seed: number;
  fleet: number;
  minutes: number;
  releases: ReleaseCounts;
  /** Stored versions that were judged. */
  versions: number;
  /** In seconds, of releases with nothing in their way. */
  lag: { count: number; p50: number; p99: number };
  /** Of the machine, for each core. */
  load: { mean: number; most: number };
  tally: Record<string, number>;
  refusals: [what: string, count: number][];
  happenings: Happening[];
  memory: MemoryLine[];
  alerts: JudgedAlert[];
  violations: string[];
}

const MINUTE_MS = 60_000;
/** Between two first versions: a fleet grows, it is not there at once. */
const GROWTH_MS = 250;
/** Whose memory has to be flat: the others are not ours, and the API server is restarted all the time. */
const OURS = ['hooks', 'metacontroller', 'engine'];
const NAMESPACE = 'monitoring';

export async function runSoak(cluster: LocalCluster, options: SoakOptions): Promise<SoakResult> {
  const { log, minutes, seed, signal, pace = { share: 1, scrapeSeconds: 15 } } = options;
  const random = randomFrom(seed);
  const dice = () => randomFrom(random.integer(0, 2 ** 31));
  const as = (user: 'admin' | 'sre' | 'flux') => new User(cluster.accessOf(user));
  const people = { admin: as('admin'), sre: as('sre'), flux: as('flux') };
  const apps = planFleet(options.fleet);
  const ledger = newLedger(apps);
  const recorder = recordStored(cluster.etcdUrl, '/registry/', (version) => ledger.take(version, Date.now()));
  const world: World = { cluster, people, apps, ledger, log };
  const teams = [...new Set(apps.map(({ namespace }) => namespace))];
  const turnWindows = async (spec: object) => {
    for (const team of teams)
      await surely(() => people.admin.mergePatch(ref('gate', team, 'window'), { spec }), signal);
  };
  const minder = mindProcesses(cluster, ledger, log);
  const ends: (() => unknown)[] = [() => recorder.stop().catch((error: Error) => log(error.message)), minder.stop];
  /** Ends with the soak; and at once when it is to end at once, whatever is being asked of the cluster. */
  const own = ({ stop }: { stop(): Promise<void> }) => {
    ends.push(stop);
    signal.addEventListener('abort', () => void stop());
  };
  try {
    await people.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    const exporter = await startKubeStateMetrics(people.admin, NAMESPACE);
    own(exporter);
    const targets = [
      { job: 'rollout-hooks', host: await hooksHost(people.admin) },
      { job: 'kube-state-metrics', host: exporter.host, honorLabels: true },
    ];
    const prometheus = await startPrometheus(targets, pace.scrapeSeconds);
    own(prometheus);
    const begin = Date.now();
    log(`Creating a fleet of ${apps.length}`);
    ends.push(await createFleet(people, apps, pace.share));
    const actors = startActors(people, apps, dice(), pace.share);
    ends.push(actors.stop);
    const children = [exporter.child, prometheus.child];
    const observer = startObserver({ cluster, prometheus, children, ledger, actors, log, out: options.out });
    ends.push(observer.stop);
    for (const app of apps) {
      if (app.newest >= 0) continue;
      await publish(world, app, false);
      await wait(GROWTH_MS * pace.share, undefined, { signal });
    }
    await settled(apps, options);
    await turnWindows({ default: 'closed', window: '3m' });

    log(`The fleet has settled: ${minutes} minutes begin`);
    const over = AbortSignal.any([signal, AbortSignal.timeout(minutes * MINUTE_MS)]);
    await happen(world, minutes, dice, over);
    signal.throwIfAborted();
    log('No more of it: every gate opens, and everything has to arrive');
    await turnWindows({ default: 'opened', window: null });
    await settled(apps, options);
    // What has happened last is scraped.
    await wait(2 * pace.scrapeSeconds * 1000, undefined, { signal });

    const end = Date.now();
    const { samples, loads, ...observed } = observer.observed();
    const { counts, violations } = judgeReleases(apps);
    const alerts = await judgeAlerts(prometheus, { ...ledger, loads }, { begin, end, step: pace.scrapeSeconds });
    const memory = judgeMemory(samples, OURS);
    const lags = apps.flatMap(({ releases }) => [...releases.values()].flatMap(lagOf));
    return {
      driver: cluster.driver()?.name ?? '',
      seed,
      fleet: apps.length,
      minutes,
      releases: counts,
      versions: ledger.versions(),
      lag: { count: lags.length, p50: quantile(lags, 0.5), p99: quantile(lags, 0.99) },
      ...observed,
      load: { mean: mean(loads.map(({ load }) => load)), most: Math.max(0, ...loads.map(({ load }) => load)) },
      tally: actors.tally,
      refusals: [...actors.refusals],
      happenings: ledger.happenings,
      memory,
      alerts,
      violations: [
        ...violations,
        ...ledger.violations,
        ...apps.flatMap(unsettled),
        ...memory.filter(({ verdict }) => verdict === 'grows').map(({ name }) => `the memory of ${name} grows`),
        ...alerts
          .filter(({ because }) => !because)
          .map(({ alert, labels }) => `${alert} ${JSON.stringify(labels)} is not true`),
        ...missed(ledger, alerts, end),
      ],
    };
  } finally {
    for (const stop of ends.toReversed()) await stop();
  }
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

async function settled(apps: readonly App[], { patience, signal, log }: SoakOptions): Promise<void> {
  const deadline = Date.now() + patience * 1000;
  for (let told = Date.now(); ; ) {
    const left = apps.flatMap(unsettled);
    if (left.length === 0) return;
    if (Date.now() > deadline) return log(`Not everything arrived within ${patience} s`);
    if (Date.now() > told + 10_000) {
      told = Date.now();
      log(`  still to come: ${left.length}, such as ${left.slice(0, 2).join('; ')}`);
    }
    await wait(500, undefined, { signal });
  }
}

/** Times in milliseconds; the step, in seconds, is that of the scrapes. */
async function judgeAlerts(
  prometheus: Prometheus,
  story: Omit<Story, 'measured'>,
  { begin, end, step }: { begin: number; end: number; step: number },
): Promise<JudgedAlert[]> {
  const series = await prometheus.range('ALERTS{alertstate="firing"}', begin / 1000, end / 1000);
  const judged: JudgedAlert[] = [];
  for (const firing of firingsOf(series, step)) {
    const expr = NUMBERS[firing.alert];
    const found = expr ? await prometheus.range(expr, firing.fromMs / 1000, firing.toMs / 1000) : [];
    const numbers = found.flatMap(({ values }) => values.map(([, value]) => Number(value)));
    const measured = numbers.length > 0 ? Math.max(...numbers) : undefined;
    judged.push({ ...firing, because: explain(firing, { ...story, measured }) });
  }
  return judged.toSorted((a, b) => a.fromMs - b.fromMs);
}
