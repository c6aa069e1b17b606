/** One run: work and faults for some minutes, quiescence until everything has arrived, silence, and the judgement. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { randomFrom } from '../actors/random.ts';
import { type Findings, Judge } from '../judges/judge.ts';
import type { LocalCluster } from '../local/cluster.ts';
import type { ControlPlaneProcess } from '../local/controlPlane/controlPlane.ts';
import type { Log } from '../local/process/log.ts';
import { Problem } from '../local/process/problem.ts';
import { spanRecorder } from './alerts.ts';
import { type AuditTrail, readAudit } from './audit.ts';
import { type FaultSchedule, type Faults, startFaults, type Target } from './faults.ts';
import { type Monitoring, type MonitoringResult, startMonitoring } from './monitoring.ts';
import { REPLICAS, type Replicas } from './replicas.ts';
import { readStored, recordInto, type Store } from './store.ts';
import { type Pace, startWorkload, type Tally, type Workload } from './work/workload.ts';

interface ChaosOptions {
  seconds: number;
  seed: number;
  teams: number;
  /** How long everything may take to arrive. Metacontroller tries again what failed after ever longer times, up to minutes. */
  patienceSeconds: number;
  /** Scrapes with a real Prometheus so often, and judges alerts and memory. Everything happens rarely then: see `calm`. */
  scrapeSeconds?: number | undefined;
  log: Log;
}

export interface ChaosResult {
  driver: string;
  processes: Faults['counts'];
  releases: number;
  tally: Tally;
  audit: Pick<AuditTrail, 'writes' | 'denials'>;
  findings: Findings;
  /** Of the freeze that the hostile tenant worked against while every process ran. */
  freeze: { heldAfterSeconds: number };
  monitoring?: Omit<MonitoringResult, 'violations'>;
}

interface Schedule extends FaultSchedule {
  pace: Pace;
}

const BUSY: Schedule = { pace: { people: 1, controllers: 1 }, betweenMs: { least: 300, most: 2500 } };
const SLOWER = 5;
/** The memory of a process is judged where it lives for more than half an hour: ours are struck in the first quarter only. */
const OURS = [...REPLICAS, 'engine', 'metacontroller'];

/** For hours: faults come every few minutes, and a fleet of any size does together a fifth of what four teams do in a hurry. */
const calm = ({ seconds, teams }: ChaosOptions): Schedule => ({
  pace: { people: SLOWER * Math.max(1, teams / 4), controllers: SLOWER },
  betweenMs: { least: seconds * 8, most: seconds * 50 },
  spares: ({ name }) => (OURS.includes(name) ? seconds * 250 : undefined),
});

const PROGRESS_MS = 10_000;
const SILENCE_MS = 15_000;
const LONGEST_RETRY_MS = 60_000;
const BEHIND_MS = 15_000;
/** Driver and hook server may each be paused between the live reads of a decision and its write, and the recorder sees it later. */
const DECIDED_MS = 60_000;
/** A Gate counts what it holds every minute and a half at the latest. */
const SILENCE_PATIENCE_MS = 180_000;

export async function runChaos(cluster: LocalCluster, replicas: Replicas, options: ChaosOptions): Promise<ChaosResult> {
  const { log, scrapeSeconds } = options;
  const hosts = replicas.hosts();
  const monitoring = scrapeSeconds && (await startMonitoring(cluster, { judged: OURS, hosts, scrapeSeconds, log }));
  try {
    return await run(cluster, replicas, options, monitoring || undefined);
  } finally {
    if (monitoring) await monitoring.stop();
  }
}

async function run(
  cluster: LocalCluster,
  replicas: Replicas,
  options: ChaosOptions,
  monitoring: Monitoring | undefined,
): Promise<ChaosResult> {
  const { log, seconds } = options;
  const random = randomFrom(options.seed);
  const stored = join(cluster.dir, 'stored.jsonl');
  const store = recordInto(stored, cluster.etcdUrl);
  const driver = cluster.driver()?.name ?? '';
  const schedule = monitoring ? calm(options) : BUSY;
  const work = { teams: options.teams, pace: schedule.pace, log };
  const workload = await startWorkload(cluster, randomFrom(random.integer(0, 2 ** 31)), work);
  const targets = targetsOf(cluster, replicas, driver);
  const faults = startFaults(targets, schedule, randomFrom(random.integer(0, 2 ** 31)), log);
  let missing: string[];
  let freeze: Awaited<ReturnType<Workload['freeze']>>;
  const progress = setInterval(() => log(asProgress(workload.tally, faults, store)), PROGRESS_MS);
  try {
    await Promise.race([wait(seconds * 1000), faults.failed]);
    log('No more faults: waiting until every process runs');
    await faults.stop();
    await restartCollector(cluster);
    log('The platform team freezes everything, while a hostile tenant goes on');
    freeze = await workload.freeze();
    log('Every gate opens: waiting until everything has arrived');
    missing = await workload.settle(options.patienceSeconds * 1000);
  } finally {
    clearInterval(progress);
    await faults.stop();
    await workload.stop();
  }
  if (missing.length === 0) log('Everything has arrived: waiting for silence');
  const silentSince = missing.length === 0 ? await silence(store) : Date.now();
  await store.stop();

  log('Judging what was stored');
  const audit = await readAudit(join(cluster.dir, 'audit.log'));
  const judge = new Judge(audit, (ms) => freshSince(faults.startedBefore(driver, ms), ms), { decidedMs: DECIDED_MS });
  const spans = spanRecorder();
  for await (const version of readStored(stored)) {
    judge.take(version);
    spans.take(version);
  }
  const { findings } = judge;
  findings.violations.push(...freeze.violations);
  const { rollouts } = spans;
  const seen = await monitoring?.judge({ rollouts, faults: faults.history, bypasses: audit.bypasses });
  findings.violations.push(...(seen?.violations ?? []));
  for (const text of missing)
    findings.violations.push(`not arrived after ${options.patienceSeconds} s of quiescence: ${text}`);
  for (const write of audit.oursSince(silentSince)) findings.violations.push(`in silence: ${write}`);
  for (const [name, { crashed }] of faults.counts) {
    // A real Metacontroller may exit when it loses the API server.
    if (crashed > 0 && name !== 'metacontroller') findings.violations.push(`${name} ended by itself ${crashed} times`);
  }
  const releases = workload.teams.reduce((sum, team) => sum + team.releases(), 0);
  return {
    driver,
    processes: faults.counts,
    releases,
    tally: workload.tally,
    audit,
    findings,
    freeze,
    ...(seen && { monitoring: seen }),
  };
}

function targetsOf(cluster: LocalCluster, replicas: Replicas, driver: string): Target[] {
  const plane = (name: ControlPlaneProcess, weight: number): Target => ({
    name,
    weight,
    longestPauseMs: 4_000,
    child: () => cluster.child(name),
    start: () => cluster.startAgain(name),
  });
  return [
    ...REPLICAS.map((name) => ({
      name,
      weight: 3,
      longestPauseMs: 6_000,
      child: () => cluster.child(name),
      start: () => replicas.startAgain(name),
    })),
    { name: driver, weight: 4, longestPauseMs: 6_000, child: cluster.driver, start: cluster.startDriver },
    plane('kube-apiserver', 2),
    plane('etcd', 2),
    plane('kube-controller-manager', 1),
  ];
}

/**
 * Where the watch of the garbage collector was broken while an object was deleted and created again under its name, it never
 * learns that the first one is gone, and keeps what that one owned: it looks afresh only when it starts.
 */
async function restartCollector(cluster: LocalCluster): Promise<void> {
  const child = cluster.child('kube-controller-manager');
  child?.kill('SIGKILL');
  await child?.exited;
  await cluster.startAgain('kube-controller-manager');
}

function asProgress(tally: Tally, { counts }: Faults, store: Store): string {
  const blows = [...counts.values()].reduce((sum, { killed, paused }) => sum + killed + paused, 0);
  const { done, denied, unavailable } = tally;
  return `  ${done} done, ${denied} denied, ${unavailable} unavailable; ${blows} faults; ${store.versions()} versions stored`;
}

/**
 * Since when what is stored was in the driver's caches at the time of a decision, at the latest. Everything was read anew when the driver
 * started. Later a watch that has broken is begun again after at most a minute (client-go waits up to 30 s, and as much again at random).
 * Besides, the API server answers from a cache of its own, which is behind while etcd is paused or down (up to 4 s), and driver and hook server may each
 * be paused (up to 6 s) between the reading and the time that is written.
 */
function freshSince(driverStarted: number, decided: number): number {
  return Math.max(driverStarted, decided - LONGEST_RETRY_MS) - BEHIND_MS;
}

/** Resolves when nothing of ours or Flux's was stored for a while, to the beginning of that time. */
async function silence(store: Store): Promise<number> {
  const deadline = performance.now() + SILENCE_PATIENCE_MS;
  for (;;) {
    const before = store.versions();
    const since = Date.now();
    await wait(SILENCE_MS);
    if (store.versions() === before) return since;
    if (performance.now() > deadline) {
      throw new Problem(`Something is stored again and again: no ${SILENCE_MS / 1000} s without a write`);
    }
  }
}
