/** A real Prometheus with our alerts, and promtool, pinned in ../binaries/goModules.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cachedGoBinary, provideGoBinary } from '../binaries/goBinary.ts';
import { startChild } from '../process/childProcess.ts';
import { freePort } from '../process/ports.ts';
import { temporaryDirectory } from '../process/temporaryDirectory.ts';
import { rules } from './component.ts';

const MODULE = 'prometheus';
/** Leaves out the clouds' service discovery, which is most of the build. */
const TAGS = 'remove_all_sd';

type Program = 'prometheus' | 'promtool';
const PROGRAMS: readonly Program[] = ['prometheus', 'promtool'];

/**
 * Whether Prometheus may be used: it was built before, or MONITORING=true allows a build of several minutes
 * (CONTRIBUTING.md).
 */
export const hasPrometheus: boolean =
  process.env.MONITORING === 'true' || PROGRAMS.every((name) => cachedGoBinary(MODULE, name) !== undefined);

/** Resolves to the path of the binary. */
export const providePrometheus = (name: Program): Promise<string> =>
  provideGoBinary(MODULE, { program: `cmd/${name}`, name, tags: TAGS });

interface Target {
  job: string;
  /** `127.0.0.1:port`. */
  host: string;
  honorLabels?: boolean;
}

interface Sample {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

export interface Series {
  metric: Record<string, string>;
  values: [time: number, value: string][];
}

interface Answer {
  status: string;
  error?: string;
  warnings?: string[];
  infos?: string[];
  data: { result: any[] };
}

/** Starts Prometheus, which scrapes and evaluates alerts at the interval. */
export async function startPrometheus(targets: readonly Target[], intervalSeconds = 1) {
  const command = await providePrometheus('prometheus');
  const { path: dir, remove } = temporaryDirectory('prometheus-');
  const host = `127.0.0.1:${await freePort()}`;
  const interval = `${intervalSeconds}s`;
  writeFileSync(join(dir, 'alerts.yaml'), JSON.stringify(rules()));
  writeFileSync(
    join(dir, 'prometheus.yaml'),
    JSON.stringify({
      global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
      rule_files: [join(dir, 'alerts.yaml')],
      scrape_configs: [...Map.groupBy(targets, ({ job }) => job)].map(([job, all]) => ({
        job_name: job,
        honor_labels: all[0]?.honorLabels ?? false,
        static_configs: [{ targets: all.map(({ host }) => host) }],
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
  });
  const ask = async (path: string, parameters: Record<string, string>): Promise<Answer> => {
    const response = await fetch(`http://${host}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const answer = (await response.json()) as Answer;
    if (answer.status !== 'success') throw new Error(`${parameters.query}: ${answer.error}`);
    return answer;
  };
  return {
    child,
    /** `127.0.0.1:port`. */
    host,
    /** An instant query; rejects with Prometheus' own sentence. */
    query: async (query: string): Promise<Sample[]> => (await ask('query', { query })).data.result,
    /** Values of a query between two times (in seconds), one per scrape. */
    range: async (query: string, from: number, to: number): Promise<Series[]> => {
      const times = { start: String(from), end: String(to), step: interval };
      return (await ask('query_range', { query, ...times })).data.result;
    },
    /** Warnings and infos about a query, for example that a metric is no counter. */
    async remarks(query: string) {
      const { warnings = [], infos = [] } = await ask('query', { query });
      return [...warnings, ...infos];
    },
    async stop() {
      await child.stop();
      remove();
    },
  };
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;
