/** `npm run bench`: speed and cost, by scenario. */
import { numberOf, parseOptions, readCommandLine, UsageError } from '../local/process/options.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { admission } from './admission.ts';
import { compare } from './against.ts';
import { flux } from './flux.ts';
import { freeze } from './freeze.ts';
import { idle } from './idle.ts';
import { latency } from './latency.ts';
import { releases } from './releases.ts';
import { asText, type Figure, isAbove, type Scenario } from './scenario.ts';

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  releases,
  latency,
  idle,
  flux,
  freeze,
  admission,
};
const MOST = 10_000;

const HELP = `Usage: npm run bench -- [scenario] [options]

Measures one scenario (releases) on a control plane of its own, and prints figures. Exits with 1 where one is above its limit.

${Object.entries(SCENARIOS).map(describe).join('\n')}

  --rollouts N,N…        sizes of the fleet, one after the other
  --checks N             HealthChecks of the largest fleet, on which its Rollouts bake; a smaller fleet has its share
  --objects N            objects behind the Gate, or ConfigMaps of each Kustomization
  --namespaces N         namespaces of the fleet
  --against REF          measure the server and manifests of that version too, in turns, and print ours divided by theirs
  --pairs N              turns of --against (2)
  --json                 print JSON instead of text
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text
`;

function describe([name, scenario]: [string, Scenario]): string {
  const sizes = scenario.rollouts ? [['rollouts', scenario.rollouts.join()]] : [];
  const options = [...sizes, ...Object.entries(scenario.numbers)].map(([option, value]) => `--${option} ${value}`);
  return `  ${name.padEnd(10)} ${[scenario.about, ...options].join('\n             ')}`;
}

/** The options of a scenario, and no others. */
function read(args: string[]) {
  const [first = ''] = args;
  const name = first.startsWith('-') || first === '' ? 'releases' : first;
  const scenario = SCENARIOS[name];
  if (!scenario) throw new UsageError(`${name} is none of ${Object.keys(SCENARIOS).join(', ')}.`);
  const defaults = scenario.numbers;
  const sizes = scenario.rollouts;
  const texts = [...Object.keys(defaults), ...(sizes ? ['rollouts'] : []), 'against', 'pairs', 'metacontroller'];
  const { values } = parseOptions({
    args: first === name ? args.slice(1) : args,
    options: {
      ...Object.fromEntries(texts.map((option) => [option, { type: 'string' as const }])),
      json: { type: 'boolean' },
    },
  });
  const given = values as Record<string, string | undefined>;
  const count = (option: string, text: string) => numberOf(`--${option}`, text, { least: 0, most: MOST });
  const numbers = Object.entries(defaults).map(([option, value]) => [
    option,
    count(option, given[option] ?? `${value}`),
  ]);
  return {
    scenario,
    rollouts: given.rollouts?.split(',').map((text) => count('rollouts', text)) ?? sizes ?? [],
    numbers: Object.fromEntries(numbers) as Record<string, number>,
    against: given.against,
    pairs: count('pairs', given.pairs ?? '2'),
    metacontroller: given.metacontroller,
    json: values.json === true,
  };
}

const { scenario, json, against, ...options } = readCommandLine(HELP, read);
const isOneOfTwo = process.env.BENCH_PRODUCT !== undefined;
process.exit(against === undefined || isOneOfTwo ? await bench() : await compare(against, options.pairs));

async function bench(): Promise<number> {
  const { metacontroller } = options;
  return onTemporaryCluster(
    { prefix: 'rollout-hooks-bench-', metacontroller, plain: true },
    async (cluster, interrupt) => {
      const found = await Promise.race([scenario.measure({ cluster, ...options }), interrupt, cluster.died]);
      if (!found) return 130;
      if (!Array.isArray(found)) throw found;
      return report(found);
    },
  );
}

function report(figures: readonly Figure[]): number {
  process.stdout.write(json ? `${JSON.stringify(figures, undefined, 2)}\n` : asText(figures));
  return figures.some(isAbove) ? 1 : 0;
}
