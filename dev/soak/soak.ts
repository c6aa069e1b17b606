/** `npm run soak`: hours of a fleet with releases, freezes and restarts; afterwards it is judged. */
import { writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { logToStderr } from '../local/process/log.ts';
import { numberOf, parseOptions, readCommandLine } from '../local/process/options.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { asText } from './report.ts';
import { runSoak } from './run.ts';

const HELP = `Usage: npm run soak -- [--minutes N] [--fleet N] [--seed S] [--patience S] [--out FILE] [--metacontroller PATH]

Hours of a fleet that releases in waves, some of it versions that do not work, behind Gates, approvals, budgets and stages, with freezes,
bypasses, and restarts of the hook server, the driver and the API server. A real Prometheus with the alerts of manifests/components/monitoring and a
real kube-state-metrics look at it. In the end every gate is opened, everything has to arrive, and this has to hold:

  - each version that was published succeeded, or did not work and failed, or gave way to a newer one; none was deployed twice, and no history was rewritten
  - nothing was deployed or changed in a freeze, and nothing is left suspended
  - the memory of driver and hook server is flat
  - every alert that fired was true, and what should have fired did

  --minutes N            how long, once the fleet has settled (120)
  --fleet N              how many Rollouts (500)
  --seed S               which choices (random)
  --patience S           seconds in which everything has to arrive, in the beginning and in the end (900)
  --out FILE             writes there the result as JSON, and until then, every minute, all that is known
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text

A line a minute says how it is; exits with 1 where one of these does not hold, and keeps what every process wrote. The first run builds Prometheus and
kube-state-metrics.
`;

/** How long Ctrl-C waits for what is being asked of the cluster. */
const END_MS = 10_000;

const { minutes, fleet, seed, patience, out, metacontroller } = readCommandLine(HELP, (args) => {
  const text = { type: 'string' } as const;
  const options = { minutes: text, fleet: text, seed: text, patience: text, out: text, metacontroller: text };
  const { values } = parseOptions({ args, options });
  const { minutes = '120', fleet = '500', seed = `${Math.floor(Math.random() * 1e6)}`, patience = '900' } = values;
  return {
    minutes: numberOf('--minutes', minutes, { least: 0, most: 1e6, whole: false }),
    fleet: numberOf('--fleet', fleet, { least: 1, most: 10_000 }),
    seed: numberOf('--seed', seed, { least: 0, most: 2 ** 31 - 1 }),
    patience: numberOf('--patience', patience, { least: 0, most: 1e6, whole: false }),
    out: values.out,
    metacontroller: values.metacontroller,
  };
});
const log = (line: string) => logToStderr(`${new Date().toISOString().slice(11, 19)} ${line}`);
log(`Seed ${seed}`);

const code = await onTemporaryCluster(
  {
    prefix: 'rollout-hooks-soak-',
    metacontroller,
    failure: `Seed ${seed}: `,
    keepFailed: true,
    // Two hours of it would fill a disk; what was stored is judged as it comes.
    auditRules: [{ level: 'None' }],
  },
  async (cluster, interrupt) => {
    const end = new AbortController();
    const running = runSoak(cluster, { minutes, fleet, seed, patience, out, log, signal: end.signal });
    const result = await Promise.race([running, interrupt]);
    if (!result) {
      end.abort();
      await Promise.race([running.catch(() => {}), wait(END_MS)]);
      return 130;
    }
    process.stdout.write(asText(result));
    if (out) writeFileSync(out, `${JSON.stringify(result, undefined, 2)}\n`);
    return result.violations.length === 0 ? 0 : 1;
  },
);
process.exit(code);
