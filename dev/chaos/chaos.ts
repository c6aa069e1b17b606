/** `npm run chaos`: kills and pauses every process at random under load, then checks everything that was stored. */
import { logToStderr } from '../local/process/log.ts';
import { metacontrollerOption, number, program, seedOf } from '../local/process/options.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { AUDIT_RULES } from './audit.ts';
import { replicasOf } from './replicas.ts';
import { type ChaosResult, runChaos } from './run.ts';

const ABOUT = `Starts a control plane, three replicas of the hook server behind a balancer, and the driver. For N minutes it kills,
pauses and restarts every process at random, the API server and etcd included, while versions are released, Gates open
and close, Git is synced, health is reported by clocks that may be an hour wrong, and users make allowed and forbidden
writes. Then every Gate opens, health becomes Healthy, failed deployments are retried, and every object must converge.
The versions that etcd stored and the API server's audit log must show:

  - no deployment was lost, repeated, or made while a Gate was closed, and no entry of a history was rewritten
  - a hostile tenant, who tries every known way around a closed Gate, resumed no object and kept none running
  - no budget was exceeded, and no automatic deployment started without a slot
  - where two approvals are required, two users approved each deployment, each by a write of their own
  - no object was changed, resumed or deleted while its Gate was closed
  - each deployment that Succeeded was applied by every bound object, and each HealthCheck became Healthy after it; each that Failed had an error or its deployTimeout as the cause; no outcome changed, except by a retry
  - after the opening, each object has the spec from Git and the newest version
  - at the end, nothing is written

With --prometheus, a real Prometheus with the alerts of manifests/components/monitoring and a real kube-state-metrics
observe the run, and everything happens at a slower pace, for hours. Then also:

  - the memory of driver and hook servers is flat
  - every alert that fired was true, and every expected alert fired

Exits with 1 if one of these rules is broken, prints the seed, and keeps the logs of all processes.`;

/** The interval in Prometheus' documentation. */
const SCRAPE_SECONDS = 15;

const { minutes, seed, patience, prometheus, metacontroller } = program('npm run chaos --', ABOUT)
  .option('--minutes <n>', 'duration of the faults', number(0, 1e6, { isWhole: false }), 5)
  .option('--seed <s>', 'seed of all choices', seedOf, Math.floor(Math.random() * 1e6))
  .option('--patience <s>', 'seconds in which every object must converge at the end', number(0, 1e6), 600)
  .option(
    '--prometheus',
    'check alerts and memory too, with 40 teams instead of 4; the first run builds Prometheus and kube-state-metrics',
  )
  .addOption(metacontrollerOption())
  .parse()
  .opts<{ minutes: number; seed: number; patience: number; prometheus?: true; metacontroller?: string }>();
const options = {
  seconds: minutes * 60,
  seed,
  teams: prometheus ? 40 : 4,
  patienceSeconds: patience,
  ...(prometheus && { scrapeSeconds: SCRAPE_SECONDS }),
};
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
  const { violations, outcomes, ...counts } = findings;
  const rows: [name: string, value: number | string][] = [
    ...[...processes].map(([name, faults]): [string, string] => {
      return [
        name,
        Object.entries(faults)
          .map(([what, count]) => `${count} ${what}`)
          .join(', '),
      ];
    }),
    ['releases', releases],
    ['baked on health and Succeeded', outcomes.Succeeded],
    ['baked on health and Failed', outcomes.Failed],
    ['seconds until the freeze held all', freeze.heldAfterSeconds.toFixed(1)],
    ...Object.entries(tally).map(([outcome, count]): [string, number] => [`actions: ${outcome}`, count]),
    ['writes in the audit log', audit.writes],
    ['writes refused', audit.denials],
    ...Object.entries(counts),
    ['violations', violations.length],
  ];
  return [
    `Seed ${seed}, ${minutes} minutes, driven by ${driver}\n`,
    ...rows.map(([name, value]) => `${name.padEnd(34)}  ${value}\n`),
    ...(monitoring ? monitoringLines(monitoring) : []),
    ...violations.slice(0, 50).map((violation) => `  ${violation}\n`),
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
