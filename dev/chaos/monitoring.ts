/**
 * A real Prometheus and a real kube-state-metrics beside chaos, and samples of every process's memory, once a minute.
 */
import { availableParallelism, loadavg } from 'node:os';
import { User } from '../actors/user.ts';
import { residentMiB } from '../bench/measure.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { startKubeStateMetrics } from '../local/monitoring/kubeStateMetrics.ts';
import { startPrometheus } from '../local/monitoring/prometheus.ts';
import type { Log } from '../local/process/log.ts';
import { explain, type Firing, firingsOf, type Load, missed, NUMBERS, type RunHistory } from './alerts.ts';
import { checkMemory, type MemoryLine, type Sample } from './memory.ts';

export interface MonitoringResult {
  memory: MemoryLine[];
  /** `because`: the cause of the alert in the run; undefined without one. */
  alerts: (Firing & { because: string | undefined })[];
  violations: string[];
}

export interface Monitoring {
  /** Checks alerts and memory. Call it after the last scrape. */
  check(history: Omit<RunHistory, 'measured' | 'loads'>): Promise<MonitoringResult>;
  stop(): Promise<void>;
}

const MINUTE_MS = 60_000;
const NAMESPACE = 'monitoring';

/** `checkedProcesses`: names of the processes whose memory must be flat. `hosts`: those of the hook servers. */
export async function startMonitoring(
  cluster: LocalCluster,
  {
    checkedProcesses,
    hosts,
    scrapeSeconds,
    log,
  }: { checkedProcesses: readonly string[]; hosts: string[]; scrapeSeconds: number; log: Log },
): Promise<Monitoring> {
  const admin = new User(cluster.accessOf('admin'));
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  const exporter = await startKubeStateMetrics(admin, NAMESPACE);
  const targets = [
    ...hosts.map((host) => ({ job: 'rollout-hooks', host })),
    { job: 'kube-state-metrics', host: exporter.host, honorLabels: true },
  ];
  const prometheus = await startPrometheus(targets, scrapeSeconds);
  const begin = Date.now();
  const samples: Sample[] = [];
  const loads: Load[] = [];

  async function sample(): Promise<void> {
    const ms = Date.now();
    const now = cluster.children().map(({ name, pid }) => ({ ms, name, pid, mib: residentMiB(pid) ?? 0 }));
    samples.push(...now);
    loads.push({ ms, load: loadavg()[0]! / availableParallelism() });
    const active = await prometheus.query('count by (alertname, alertstate) (ALERTS)');
    const alerts = active.map(({ metric, value }) => `${value[1]} ${metric.alertname} ${metric.alertstate}`);
    const memory = now.map(({ name, mib }) => `${name} ${mib}`);
    log(
      `  minute ${Math.round((ms - begin) / MINUTE_MS)}: MiB ${memory.join(', ')}; alerts: ${alerts.join(', ') || 'none'}`,
    );
  }

  async function measured({ alert, fromMs, toMs }: Firing): Promise<number | undefined> {
    const expr = NUMBERS[alert];
    const found = expr ? await prometheus.range(expr, fromMs / 1000, toMs / 1000) : [];
    const numbers = found.flatMap(({ values }) => values.map(([, value]) => Number(value)));
    return numbers.length > 0 ? Math.max(...numbers) : undefined;
  }

  const timer = setInterval(() => void sample().catch((error: Error) => log(`  ${error.message}`)), MINUTE_MS);
  return {
    async check(history) {
      const end = Date.now();
      const series = await prometheus.range('ALERTS{alertstate="firing"}', begin / 1000, end / 1000);
      const alerts: MonitoringResult['alerts'] = [];
      for (const firing of firingsOf(series, scrapeSeconds)) {
        alerts.push({ ...firing, because: explain(firing, { ...history, loads, measured: await measured(firing) }) });
      }
      const memory = checkMemory(samples, checkedProcesses);
      return {
        memory,
        alerts: alerts.toSorted((a, b) => a.fromMs - b.fromMs),
        violations: [
          ...memory.filter(({ trend }) => trend === 'grows').map(({ name }) => `the memory of ${name} grows`),
          ...alerts
            .filter(({ because }) => !because)
            .map(({ alert, labels }) => `alert ${alert} ${JSON.stringify(labels)} is not true`),
          ...missed(history, alerts, end),
        ],
      };
    },
    async stop() {
      clearInterval(timer);
      await prometheus.stop();
      await exporter.stop();
    },
  };
}
