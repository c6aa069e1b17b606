/** Looks at everything once a minute: says a line of it, and keeps what is judged in the end. */
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { cpuSeconds, quantile, residentMiB } from '../bench/measure.ts';
import type { LocalCluster } from '../local/cluster.ts';
import type { Prometheus } from '../local/monitoring/prometheus.ts';
import type { RunningChild } from '../local/process/childProcess.ts';
import type { Log } from '../local/process/log.ts';
import type { Actors } from './actors.ts';
import type { Load } from './alerts.ts';
import type { Release } from './fleet.ts';
import type { Ledger } from './ledger.ts';
import type { Sample } from './memory.ts';

const MINUTE_MS = 60_000;
const SELF = 'soak';

export interface Observed {
  samples: readonly Sample[];
  /** Of etcd's file. */
  etcdMiB: { first: number; last: number; most: number };
  /** By process; `soak` is this one, which plays Flux and everybody else. */
  cores: Record<string, number>;
  /** Of the whole machine, by others too, for each of its cores. */
  loads: readonly Load[];
}

export interface Observer {
  /** So far. */
  observed(): Observed;
  stop(): void;
}

export interface Scene {
  cluster: LocalCluster;
  prometheus: Prometheus;
  /** Beside the cluster's. */
  children: readonly RunningChild[];
  ledger: Ledger;
  actors: Actors;
  log: Log;
  /** All that is known, every minute: a soak that is cut short can be judged by hand. */
  out?: string | undefined;
}

export function startObserver({ cluster, prometheus, children, ledger, actors, log, out }: Scene): Observer {
  const samples: Sample[] = [];
  const etcd: number[] = [];
  const loads: Load[] = [];
  const begin = Date.now();
  const seconds = new Map<string, { name: string; seconds: number }>();
  const running = () => [...cluster.children(), ...children];
  const before = new Map(running().map(({ name, pid }) => [`${name} ${pid}`, cpuSeconds(pid) ?? 0]));
  const selfBefore = cpuSeconds(process.pid) ?? 0;

  const cores = () => {
    const used: Record<string, number> = {};
    for (const one of seconds.values()) {
      used[one.name] = (used[one.name] ?? 0) + (one.seconds * 1000) / (Date.now() - begin);
    }
    return used;
  };

  async function look(): Promise<void> {
    const ms = Date.now();
    for (const { name, pid } of running()) {
      samples.push({ ms, name, pid, mib: residentMiB(pid) ?? 0 });
      const key = `${name} ${pid}`;
      seconds.set(key, { name, seconds: (cpuSeconds(pid) ?? 0) - (before.get(key) ?? 0) });
    }
    seconds.set(SELF, { name: SELF, seconds: (cpuSeconds(process.pid) ?? 0) - selfBefore });
    etcd.push(await databaseMiB(cluster.etcdUrl));
    loads.push({ ms, load: loadavg()[0]! / availableParallelism() });
    log(
      `  minute ${Math.round((ms - begin) / MINUTE_MS)}: ${[memory(ms), releases(ms), await alerts(), state()].join('; ')}`,
    );
    if (out) writeFileSync(out, JSON.stringify(raw()));
  }

  const memory = (at: number) => {
    const now = samples.filter(({ ms }) => ms === at).map(({ name, mib }) => `${name} ${mib}`);
    return `MiB ${now.join(', ')}, etcd's file ${etcd.at(-1)}`;
  };

  const releases = (ms: number) => {
    const all = [...ledger.apps.values()].flatMap((app) => [...app.releases.values()]);
    const ended = all.filter(({ outcome }) => outcome !== undefined).length;
    const lags = all.filter(({ deployedMs = 0 }) => deployedMs > ms - MINUTE_MS).flatMap(lagOf);
    const quantiles =
      lags.length > 0 ? `, p50 ${quantile(lags, 0.5).toFixed(2)} s, p99 ${quantile(lags, 0.99).toFixed(2)} s` : '';
    return `${all.length} asked, ${ended} ended, lag of ${lags.length}${quantiles}`;
  };

  async function alerts(): Promise<string> {
    const active = await prometheus.query('count by (alertname, alertstate) (ALERTS)');
    const texts = active.map(({ metric, value }) => `${value[1]} ${metric.alertname} ${metric.alertstate}`);
    return `alerts: ${texts.join(', ') || 'none'}`;
  }

  const state = () => {
    const used = Object.values(cores()).reduce((sum, one) => sum + one, 0);
    const { violations } = ledger;
    const last = violations.length > 0 ? `, the last: ${violations.at(-1)}` : '';
    return `${used.toFixed(2)} cores, load of each ${loads.at(-1)!.load.toFixed(1)}; ${violations.length} violations${last}`;
  };

  const raw = () => ({
    begin,
    tally: actors.tally,
    refusals: [...actors.refusals],
    happenings: ledger.happenings,
    violations: ledger.violations,
    samples,
    etcd,
    loads,
    apps: [...ledger.apps.values()].map(({ key, kind, spans, notReady, releases }) => {
      return { key, kind, spans, notReady, releases: [...releases.values()] };
    }),
  });

  const timer = setInterval(() => void look().catch((error: Error) => log(`  ${error.message}`)), MINUTE_MS);
  return {
    observed: () => ({
      samples,
      etcdMiB: { first: etcd[0] ?? 0, last: etcd.at(-1) ?? 0, most: Math.max(0, ...etcd) },
      cores: cores(),
      loads,
    }),
    stop: () => clearInterval(timer),
  };
}

/** Seconds from its publication until it was the head of the history, where nothing was in its way. */
export function lagOf({ free, publishedMs, deployedMs }: Release): number[] {
  return free && deployedMs !== undefined ? [(deployedMs - publishedMs) / 1000] : [];
}

async function databaseMiB(url: string): Promise<number> {
  const response = await fetch(`${url}/v3/maintenance/status`, { method: 'POST', body: '{}' });
  return Math.round(Number(((await response.json()) as { dbSize: string }).dbSize) / 1024 ** 2);
}
