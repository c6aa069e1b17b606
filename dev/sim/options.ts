/** The command line of the simulation. */
import { numberOf, parseOptions } from '../local/process/options.ts';

export const HELP = `Usage: npm run sim -- [--seeds N] [--seed S] [--steps N] | --scenarios

Runs hooks, admission, a driver with Metacontroller's semantics and an API server in this process, on virtual time. A seed decides everything: what
users, Git syncs, pipelines and Flux do, how long each message takes, which events are late, and when hook servers, driver and API server die.
Checks everything that was stored with dev/oracle: closed Gates hold, histories only grow, budgets and approvals are kept, outcomes of bakes have
a cause. At the end every Gate opens, every object must get its newest version, and then nothing may be written.
Stops at the first seed that fails, and prints a shorter run that fails in the same way.

  --seeds N    how many seeds (1000)
  --seed S     the first of them (from the clock); alone it replays one seed
  --steps N    how many steps each has: user actions and faults (60)
  --scenarios  plays the scenarios of test/scenario/rollout instead: each as it is, then with a crash and with a stale cache at every write
  --help       this text

Exits with 0 when nothing was found, 1 with a finding, 2 for a wrong option, 130 after Ctrl-C.
`;

export interface Options {
  seeds: number;
  seed: number;
  steps: number;
  scenarios: boolean;
}

export function parseSimOptions(args: string[], clock: () => number): Options {
  const text = { type: 'string' } as const;
  const { values } = parseOptions({
    args,
    options: { seeds: text, seed: text, steps: text, scenarios: { type: 'boolean' } },
  });
  const { seed, steps = '60' } = values;
  const { seeds = seed === undefined ? '1000' : '1' } = values;
  return {
    seeds: numberOf('--seeds', seeds, { least: 1, most: 1e9 }),
    seed: numberOf('--seed', seed ?? String(clock() % 1e9), { least: 0, most: 2 ** 31 - 1 }),
    scenarios: values.scenarios === true,
    steps: numberOf('--steps', steps, { least: 1, most: 10_000 }),
  };
}
