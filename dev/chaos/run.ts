/** A run: work and faults for some minutes, convergence, quiescence, and the oracle's check. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { randomFrom } from '../actors/random.ts';
import type { LocalCluster } from '../local/cluster.ts';
import type { ControlPlaneProcess } from '../local/controlPlane/controlPlane.ts';
import type { Log } from '../local/process/log.ts';
import { Problem } from '../local/process/problem.ts';
import { type Findings, Oracle } from '../oracle/oracle.ts';
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
  /** The time in which every object must converge. Metacontroller's retries may be minutes apart. */
  patienceSeconds: number;
  /** Seconds between scrapes of a real Prometheus; alerts and memory are checked, at the pace of `slowSchedule`. */
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
  /** The freeze against which the hostile tenant worked while every process ran. */
  freeze: { heldAfterSeconds: number };
  monitoring?: Omit<MonitoringResult, 'violations'>;
}

interface Schedule extends FaultSchedule {
  pace: Pace;
}

const BUSY: Schedule = { pace: { users: 1, controllers: 1 }, betweenMs: { least: 300, most: 2500 } };
const SLOWDOWN = 5;
/** Processes that get faults in the first quarter only, since memory is checked in a life of more than half an hour. */
const OURS = [...REPLICAS, 'engine', 'metacontroller'];

/**
 * The schedule of a run for hours: a fault every few minutes, and a fifth of the usual work, whatever the size of the
 * fleet.
 */
const slowSchedule = ({ seconds, teams }: ChaosOptions): Schedule => ({
  pace: { users: SLOWDOWN * Math.max(1, teams / 4), controllers: SLOWDOWN },
  betweenMs: { least: seconds * 8, most: seconds * 50 },
  sparedAfterMs: ({ name }) => (OURS.includes(name) ? seconds * 250 : undefined),
});

const PROGRESS_MS = 10_000;
const QUIESCENCE_MS = 15_000;
const LONGEST_RETRY_MS = 60_000;
const BEHIND_MS = 15_000;
/**
 * The longest time between a decision and its storing: driver and hook server may be paused, and the recorder is late.
 */
const DECIDED_MS = 60_000;
/** Longer than the interval at which a Gate counts its objects. */
const QUIESCENCE_PATIENCE_MS = 180_000;

export async function runChaos(cluster: LocalCluster, replicas: Replicas, options: ChaosOptions): Promise<ChaosResult> {
  const { log, scrapeSeconds } = options;
  const hosts = replicas.hosts();
  const monitoring =
    scrapeSeconds && (await startMonitoring(cluster, { checkedProcesses: OURS, hosts, scrapeSeconds, log }));
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
  const schedule = monitoring ? slowSchedule(options) : BUSY;
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
    log('Every Gate opens: waiting until every object has converged');
    missing = await workload.settle(options.patienceSeconds * 1000);
  } finally {
    clearInterval(progress);
    await faults.stop();
    await workload.stop();
  }
  if (missing.length === 0) log('Every object has converged: waiting for quiescence');
  const quietSince = missing.length === 0 ? await quiescence(store) : Date.now();
  await store.stop();

  log('Checking what was stored');
  const audit = await readAudit(join(cluster.dir, 'audit.log'));
  const oracle = new Oracle(audit, (ms) => freshSince(faults.startedBefore(driver, ms), ms), { decidedMs: DECIDED_MS });
  const spans = spanRecorder();
  for await (const version of readStored(stored)) {
    oracle.take(version);
    spans.take(version);
  }
  const { findings } = oracle;
  findings.violations.push(...freeze.violations);
  const { rollouts } = spans;
  const seen = await monitoring?.check({ rollouts, faults: faults.history, bypasses: audit.bypasses });
  findings.violations.push(...(seen?.violations ?? []));
  for (const text of missing) findings.violations.push(`not converged after ${options.patienceSeconds} s: ${text}`);
  for (const write of audit.oursSince(quietSince)) findings.violations.push(`written at rest: ${write}`);
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
 * Restarts the garbage collector. If its watch was broken while an object was deleted and re-created, it never sees the
 * deletion and keeps the objects that the first one owned, until it starts anew.
 */
async function restartCollector(cluster: LocalCluster): Promise<void> {
  const child = cluster.child('kube-controller-manager');
  child?.kill('SIGKILL');
  await child?.exited;
  await cluster.startAgain('kube-controller-manager');
}

function asProgress(tally: Tally, { counts }: Faults, store: Store): string {
  const faults = [...counts.values()].reduce((sum, { killed, paused }) => sum + killed + paused, 0);
  const { done, denied, unavailable } = tally;
  return `  ${done} done, ${denied} denied, ${unavailable} unavailable; ${faults} faults; ${store.versions()} versions stored`;
}

/**
 * The time before which everything stored was in the driver's caches when it decided. The driver reads everything when
 * it starts. A broken watch is renewed after at most a minute (client-go waits up to 30 s, and as much again at
 * random). The API server's own cache is stale while etcd is paused or down (up to 4 s), and driver and hook server may
 * each be paused (up to 6 s) before they write.
 */
function freshSince(driverStarted: number, decided: number): number {
  return Math.max(driverStarted, decided - LONGEST_RETRY_MS) - BEHIND_MS;
}

/** Waits for a period without stored versions. Resolves to its beginning. */
async function quiescence(store: Store): Promise<number> {
  const deadline = performance.now() + QUIESCENCE_PATIENCE_MS;
  for (;;) {
    const before = store.versions();
    const since = Date.now();
    await wait(QUIESCENCE_MS);
    if (store.versions() === before) return since;
    if (performance.now() > deadline) {
      throw new Problem(`Objects are still being written: no ${QUIESCENCE_MS / 1000} s without a write`);
    }
  }
}
