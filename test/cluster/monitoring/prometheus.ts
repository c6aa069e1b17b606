/** A real Prometheus (pinned in dev/tools/prometheus), with our alerts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { providePrometheus } from '../../../dev/local/binaries/prometheus.ts';
import { startChild } from '../../../dev/local/process/childProcess.ts';
import { freePort } from '../../../dev/local/process/ports.ts';
import { RULES } from '../../manifests/components/monitoring/monitoring.ts';

export interface Target {
  job: string;
  /** `127.0.0.1:port`. */
  host: string;
  honorLabels?: boolean;
}

export interface Sample {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

export interface Prometheus {
  /** An instant query; rejects with Prometheus' own sentence. */
  query(expr: string): Promise<Sample[]>;
  /** Warnings and infos of the same query, such as about a metric that is no counter. */
  remarks(expr: string): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startPrometheus(targets: readonly Target[]): Promise<Prometheus> {
  const command = await providePrometheus('prometheus');
  const dir = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const host = `127.0.0.1:${await freePort()}`;
  writeFileSync(join(dir, 'alerts.yaml'), JSON.stringify(RULES));
  writeFileSync(
    join(dir, 'prometheus.yaml'),
    JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [join(dir, 'alerts.yaml')],
      scrape_configs: targets.map((target) => ({
        job_name: target.job,
        honor_labels: target.honorLabels ?? false,
        static_configs: [{ targets: [target.host] }],
      })),
    }),
  );
  const child = await startChild({
    name: 'prometheus',
    command,
    args: [
      `--config.file=${join(dir, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=${host}`,
      '--web.page-title=test',
    ],
    dir,
    ready: async () => (await fetch(`http://${host}/-/ready`)).ok,
    readyTimeoutMs: 60_000,
  });
  const ask = async (query: string) => {
    const response = await fetch(`http://${host}/api/v1/query?${new URLSearchParams({ query })}`);
    const answer = (await response.json()) as {
      status: string;
      error?: string;
      warnings?: string[];
      infos?: string[];
      data: { result: Sample[] };
    };
    if (answer.status !== 'success') throw new Error(`${query}: ${answer.error}`);
    return answer;
  };
  return {
    query: async (expr) => (await ask(expr)).data.result,
    async remarks(expr) {
      const { warnings = [], infos = [] } = await ask(expr);
      return [...warnings, ...infos];
    },
    async stop() {
      await child.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
