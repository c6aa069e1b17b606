/** `npm run bench`: speed and cost, by scenario. */
import { metacontrollerOption, number, program } from '../local/process/options.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { admission } from './admission.ts';
import { compare } from './against.ts';
import { freeze } from './freeze.ts';
import { idle } from './idle.ts';
import { latency } from './latency.ts';
import { releases } from './releases.ts';
import { asText, isAbove, type Scenario } from './scenario.ts';

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  releases,
  latency,
  idle,
  freeze,
  admission,
};
const DEFAULT = 'releases';

const ABOUT = `Measures a scenario on a control plane of its own, and prints figures. Exits with 1 where one is above its limit.
\`npm run bench -- SCENARIO --help\` lists the options of a scenario; without one it is ${DEFAULT}.`;

const NUMBERS: Readonly<Record<string, string>> = {
  rounds: 'how often it is measured',
  releases: 'how many releases',
  writes: 'how many writes',
  pause: 'milliseconds between two writes',
  seconds: 'how long it is measured',
  checks: 'HealthChecks of the largest fleet, on which its Rollouts bake; a smaller fleet has its share',
  objects: 'objects behind the Gate, or ConfigMaps of each Kustomization',
  namespaces: 'namespaces of the fleet',
};
const count = number(0, 10_000);

interface Options extends Record<string, unknown> {
  rollouts?: number[];
  against?: string;
  pairs: number;
  json?: true;
  metacontroller?: string;
}

const command = program('npm run bench --', ABOUT);
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  const each = command.command(name, { isDefault: name === DEFAULT }).description(scenario.about);
  if (scenario.rollouts) {
    const sizes = (text: string) => text.split(',').map(count);
    each.option('--rollouts <n,n…>', 'sizes of the fleet, one after the other', sizes, scenario.rollouts);
  }
  for (const [option, value] of Object.entries(scenario.numbers))
    each.option(`--${option} <n>`, NUMBERS[option] ?? '', count, value);
  each
    .option('--against <ref>', 'measure that version too, in turns, and print ours divided by theirs')
    .option('--pairs <n>', 'turns of --against, each of two runs', count, 2)
    .option('--json', 'print JSON instead of text')
    .addOption(metacontrollerOption())
    .action(async (options: Options) => process.exit(await run(scenario, options)));
}
await command.parseAsync();

async function run(scenario: Scenario, options: Options): Promise<number> {
  const { against, pairs, json, metacontroller, rollouts = [], ...numbers } = options;
  const isOneOfTwo = process.env.BENCH_PRODUCT !== undefined;
  if (against !== undefined && !isOneOfTwo) return compare(against, pairs);
  return onTemporaryCluster(
    { prefix: 'rollout-hooks-bench-', metacontroller, plain: true },
    async (cluster, interrupt) => {
      const measuring = scenario.measure({ cluster, rollouts, numbers: numbers as Record<string, number> });
      const found = await Promise.race([measuring, interrupt, cluster.died]);
      if (!found) return 130;
      if (!Array.isArray(found)) throw found;
      process.stdout.write(json ? `${JSON.stringify(found, undefined, 2)}\n` : asText(found));
      return found.some(isAbove) ? 1 : 0;
    },
  );
}
