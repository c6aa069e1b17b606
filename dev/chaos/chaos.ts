/** `npm run chaos`: kills and pauses every process at random under load, then checks everything that was stored. */
import { logToStderr } from '../local/process/log.ts';
import { numberOf, parseOptions, readCommandLine } from '../local/process/options.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { AUDIT_RULES } from './audit.ts';
import { replicasOf } from './replicas.ts';
import { type ChaosResult, runChaos } from './run.ts';

const HELP = `Usage: npm run chaos -- [--minutes N] [--seed S] [--teams N] [--patience S] [--prometheus] [--metacontroller PATH]

Starts a control plane, three replicas of the hook server behind a balancer, and the driver. For N minutes it kills, pauses and restarts every
process at random, the API server and etcd included, while versions are released, Gates open and close, Git is synced, health is reported by clocks
that may be an hour wrong, and users make allowed and forbidden writes. Then every Gate opens, health becomes Healthy, failed deployments are
retried, and every object must converge. The versions that etcd stored and the API server's audit log must show:

  - no deployment was lost, repeated, or made while a Gate was closed, and no entry of a history was rewritten
  - a hostile tenant, who tries every known way around a closed Gate, resumed no object and kept none running
  - no budget was exceeded, and no automatic deployment started without a slot
  - where two approvals are required, two users approved each deployment, each by a write of their own
  - no object was changed, resumed or deleted while its Gate was closed
  - each deployment that Succeeded was applied by every bound object, and each HealthCheck became Healthy after it; each that Failed had an error
    or its deployTimeout as the cause; no outcome changed, except by a retry
  - after the opening, each object has the spec from Git and the newest version
  - at the end, nothing is written

With --prometheus, a real Prometheus with the alerts of manifests/components/monitoring and a real kube-state-metrics observe the run, and everything
happens at a slower pace, for hours. Then also:

  - the memory of driver and hook servers is flat
  - every alert that fired was true, and every expected alert fired

  --minutes N            duration of the faults (5)
  --seed S               seed of all choices (random)
  --teams N              number of namespaces with a Rollout each (4; with --prometheus 40)
  --patience S           seconds in which every object must converge at the end (600)
  --prometheus           check alerts and memory too; the first run builds Prometheus and kube-state-metrics
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text

Exits with 1 if one of these rules is broken, prints the seed, and keeps the logs of all processes.
`;

/** The interval in Prometheus' documentation. */
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
    row('closures of Gates', findings.closures),
    row('seconds until the freeze held all', freeze.heldAfterSeconds.toFixed(1)),
    row(
      'actions',
      Object.values(tally).reduce((a, b) => a + b, 0),
    ),
    ...Object.entries(tally).map(([outcome, count]) => row(`  ${outcome}`, count)),
    row('writes in the audit log', audit.writes),
    row('  refused', audit.denials),
    row('stored versions checked', findings.versions),
    row('  of writes without an answer', findings.unanswered),
    row('  in flight when a Gate closed', findings.inFlight),
    row('violations', findings.violations.length),
    ...(monitoring ? monitoringLines(monitoring) : []),
    ...findings.violations.slice(0, 50).map((violation) => `  ${violation}\n`),
  ].join('');
}

function monitoringLines({ memory, alerts }: NonNullable<ChaosResult['monitoring']>): string[] {
  const clock = (ms: number) => new Date(ms).toISOString().slice(11, 19);
  return [
    ...memory.map(({ name, minutes, first, last, mibPerHour, error, trend }) => {
      const slope = `${mibPerHour.toFixed(1)} ± ${error.toFixed(1)} MiB an hour`;
      return `memory of ${name}: ${first} MiB, ${last} MiB after ${minutes} minutes, ${slope}: ${trend}\n`;
    }),
    ...alerts.map(({ fromMs, toMs, alert, labels, because = 'NOT TRUE' }) => {
      const of = labels.name === undefined ? '' : ` of ${labels.namespace}/${labels.name}`;
      return `${clock(fromMs)} to ${clock(toMs)} ${alert}${of}: ${because}\n`;
    }),
  ];
}
