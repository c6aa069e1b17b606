/** `npm run chaos`: every process is killed and paused at random under load; afterwards it is proven that nothing was lost. */
import { logToStderr } from '../local/process/log.ts';
import { numberOf, parseOptions, readCommandLine } from '../local/process/options.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { AUDIT_RULES } from './audit.ts';
import { replicasOf } from './replicas.ts';
import { type ChaosResult, runChaos } from './run.ts';

const HELP = `Usage: npm run chaos -- [--minutes N] [--seed S] [--teams N] [--patience S] [--prometheus] [--metacontroller PATH]

Starts a control plane of its own, three replicas of the hook server behind a balancer, and the driver. For N minutes each process,
API server and etcd too, is killed, paused and started again at random, while versions are released, Gates close and open, Git is synced, health
is reported at random by clocks that may be an hour wrong, and people do what they may and what they may not. Then all Gates are opened, health is
Healthy, what has failed is retried, and everything has to arrive. What etcd stored and what the API
server's audit log says of it has to prove:

  - no deployment was lost or doubled, none was made behind a closed Gate, and no entry of a history was rewritten
  - a tenant who plays every known way around a Gate that freezes the cluster gets past it nowhere: what it has is held, and stays so
  - never were more on their way by themselves than their budget allows, and none began without a slot
  - nothing was deployed before two people had approved it where that is asked for, each by a write of their own
  - no spec of a held object was changed, and none was resumed or deleted, while its Gate was closed
  - a deployment that Succeeded was applied by every bound object, and each HealthCheck it selects had become Healthy since; one that Failed
    had an error or its deployTimeout as the cause; and no outcome changed, except by a retry
  - every opening arrived: each object has what Git says and the newest version
  - when all is done, nothing writes any more

With --prometheus a real Prometheus with the alerts of manifests/components/monitoring and a real kube-state-metrics look at it, and all of it
happens rarely, so that it can go on for hours. Then also:

  - the memory of driver and hook servers is flat
  - every alert that fired was true, and what should have fired did

  --minutes N            how long (5)
  --seed S               which choices (random)
  --teams N              how many namespaces with a Rollout each (4; with --prometheus 40)
  --patience S           seconds in which everything has to arrive in the end (600)
  --prometheus           judge alerts and memory too; the first run builds Prometheus and kube-state-metrics
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text

Exits with 1 where one of these does not hold; it prints the seed and keeps what every process wrote.
`;

/** As Prometheus' documentation has it. */
const SCRAPE_SECONDS = 15;

const { metacontroller, ...options } = readCommandLine(HELP, (args) => {
  const text = { type: 'string' } as const;
  const options = { minutes: text, seed: text, teams: text, patience: text, metacontroller: text };
  const prometheus = { type: 'boolean' } as const;
  const { values } = parseOptions({ args, options: { ...options, prometheus } });
  const { minutes = '5', seed = `${Math.floor(Math.random() * 1e6)}`, patience = '600' } = values;
  const teams = values.teams ?? (values.prometheus ? '40' : '4');
  return {
    seconds: numberOf('--minutes', minutes, { least: 0, most: 1e6, whole: false }) * 60,
    seed: numberOf('--seed', seed, { least: 0, most: 2 ** 31 - 1 }),
    teams: numberOf('--teams', teams, { least: 1, most: 1000 }),
    patienceSeconds: numberOf('--patience', patience, { least: 0, most: 1e6, whole: false }),
    ...(values.prometheus && { scrapeSeconds: SCRAPE_SECONDS }),
    metacontroller: values.metacontroller,
  };
});
const { seed, seconds } = options;
logToStderr(`Seed ${seed}`);
const replicas = replicasOf();
const code = await onTemporaryCluster(
  {
    prefix: 'rollout-hooks-chaos-',
    metacontroller,
    failure: `Seed ${seed}: `,
    keepFailed: true,
    auditRules: AUDIT_RULES,
    serveHooks: replicas.serve,
  },
  async (cluster, interrupt) => {
    const running = runChaos(cluster, replicas, { ...options, log: logToStderr });
    const result = await Promise.race([running, interrupt]);
    if (!result) return 130;
    process.stdout.write(asText(result));
    return result.findings.violations.length === 0 ? 0 : 1;
  },
);
process.exit(code);

function asText({ driver, processes, releases, tally, audit, findings, freeze, monitoring }: ChaosResult): string {
  const row = (name: string, ...cells: (number | string)[]) =>
    `${name.padEnd(34)}${cells.map((cell) => String(cell).padStart(9)).join('')}\n`;
  return [
    `Seed ${seed}, ${seconds} s, driven by ${driver}\n`,
    row('process', 'killed', 'paused', 'crashed'),
    ...[...processes].map(([name, { killed, paused, crashed }]) => row(`  ${name}`, killed, paused, crashed)),
    row('releases', releases),
    row('deployments', findings.deployments),
    row('  baked on health and Succeeded', findings.outcomes.Succeeded),
    row('  baked on health and Failed', findings.outcomes.Failed),
    row('closings of gates', findings.closings),
    row('seconds until a freeze held all', freeze.heldAfterSeconds.toFixed(1)),
    row(
      'what everybody tried',
      Object.values(tally).reduce((a, b) => a + b, 0),
    ),
    ...Object.entries(tally).map(([outcome, count]) => row(`  ${outcome}`, count)),
    row('writes in the audit log', audit.writes),
    row('  refused', audit.denials),
    row('stored versions judged', findings.versions),
    row('  whose answer died', findings.unanswered),
    row('  under way when a gate closed', findings.underWay),
    row('violations', findings.violations.length),
    ...(monitoring ? monitoringLines(monitoring) : []),
    ...findings.violations.slice(0, 50).map((violation) => `  ${violation}\n`),
  ].join('');
}

function monitoringLines({ memory, alerts }: NonNullable<ChaosResult['monitoring']>): string[] {
  const clock = (ms: number) => new Date(ms).toISOString().slice(11, 19);
  return [
    ...memory.map(({ name, minutes, first, last, mibPerHour, error, verdict }) => {
      const slope = `${mibPerHour.toFixed(1)} ± ${error.toFixed(1)} MiB an hour`;
      return `memory of ${name}: ${first} MiB, ${last} MiB after ${minutes} minutes, ${slope}: ${verdict}\n`;
    }),
    ...alerts.map(({ fromMs, toMs, alert, labels, because = 'NOT TRUE' }) => {
      const of = labels.name === undefined ? '' : ` of ${labels.namespace}/${labels.name}`;
      return `${clock(fromMs)} to ${clock(toMs)} ${alert}${of}: ${because}\n`;
    }),
  ];
}
