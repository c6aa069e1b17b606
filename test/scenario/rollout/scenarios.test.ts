/** Runs the scenarios of this folder. R, RM and RT with a number are cases of the Go controller's test suite, Q with a number its quirks. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'vitest';
import { parse } from 'yaml';
import { CHECKS } from './expectation.ts';
import { FIXTURES } from './fixtures.ts';
import { inTime, STEPS } from './steps.ts';
import { World } from './world.ts';

interface Scenario {
  id: string;
  title: string;
  fixture?: string;
  /** The installation's default; the Go controller's is Hold. */
  onFailure?: 'Continue' | 'Hold';
  steps: (string | Record<string, unknown>)[];
}

for (const file of readdirSync(import.meta.dirname).filter((name) => name.endsWith('.yaml'))) {
  describe(file, () => {
    const scenarios = parse(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')) as Scenario[];
    it.each(scenarios.map((scenario) => [scenario.id, scenario.title, scenario] as const))(
      '%s %s',
      async (_id, _title, scenario) => {
        const world = new World(scenario.onFailure ?? 'Hold');
        await FIXTURES[scenario.fixture ?? 'F0']!(world);
        for (const [index, step] of scenario.steps.entries()) await run(world, step, index);
      },
    );
  });
}

async function run(world: World, step: string | Record<string, unknown>, index: number): Promise<void> {
  const [name, data] = typeof step === 'string' ? [step, undefined] : Object.entries(step)[0]!;
  const at = `step ${index + 1} (${name})`;
  try {
    if (name === 'expect') check(world, inTime(data, world.now));
    else if (STEPS[name]) await STEPS[name](world, inTime(data, world.now));
    else throw new Error('no such step');
  } catch (error) {
    if (error instanceof Error) error.message = `${at}: ${error.message}`;
    throw error;
  }
}

function check(world: World, expected: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(expected)) {
    if (!CHECKS[name]) throw new Error(`no such expectation: ${name}`);
    CHECKS[name](world, value);
  }
}
