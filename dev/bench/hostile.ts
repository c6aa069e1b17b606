/** `node dev/bench/hostile.ts`: what the decision of a hostile input costs, against parsing the same input as JSON. */
import { parseOptions, readCommandLine, UsageError } from '../local/process/options.ts';
import { INPUTS } from './hostile/inputs.ts';
import { BUDGET, type Cost, costOf } from './hostile/measure.ts';

const HELP = `Usage: node dev/bench/hostile.ts [--only TEXT] [--json]

Sends inputs that are made to be expensive to the routes of the hooks and of admission, each in a process of its own, and prints the
processor time of the decision in parses of the same input as JSON (at most ${BUDGET.time}), the first decision in milliseconds, and the peak of
memory in bytes of the input (at most ${BUDGET.memory}). What the decision reads from the cluster counts as input.
Exits with 1 when one is above.

  --only TEXT  those whose name has this text
  --json       print JSON instead of text
  --help       this text
`;

function read(args: string[]) {
  const { values } = parseOptions({ args, options: { only: { type: 'string' }, json: { type: 'boolean' } } });
  const { only = '', json = false } = values;
  const chosen = Object.entries(INPUTS).filter(([name]) => name.includes(only));
  if (chosen.length === 0) throw new UsageError(`--only ${only} is in the name of no input.`);
  return { chosen, json };
}

function line({ name, bytes, time, first, memory, requests, problems }: Cost): string {
  const cells = [
    name.padEnd(70),
    `${Math.ceil(bytes / 1000)} kB`.padStart(9),
    `${time.toFixed(1)} ×`.padStart(10),
    `${first.toFixed(0)} ms`.padStart(9),
    `${memory.toFixed(1)} ×`.padStart(8),
    `${requests}`.padStart(6),
  ];
  return `${cells.join('')}${problems.length > 0 ? `  ABOVE: ${problems.join('; ')}` : ''}\n`;
}

const { chosen, json } = readCommandLine(HELP, read);
const costs: Cost[] = [];
if (!json) process.stdout.write(`${'input'.padEnd(70)}     size      time    first  memory reads\n`);
for (const [name, make] of chosen) {
  const cost = await costOf(name, make());
  costs.push(cost);
  if (!json) process.stdout.write(line(cost));
}
if (json) process.stdout.write(`${JSON.stringify(costs, undefined, 2)}\n`);
process.exit(costs.some(({ problems }) => problems.length > 0) ? 1 : 0);
