/** Runs the scenarios of this folder. R, RM and RT with a number are cases of the Go controller's test suite, Q with a number its quirks. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CHECKS } from './expectation.ts';
import { saysWhy } from './explained.ts';
import { FIXTURES } from './fixtures.ts';
import { inTime, STEPS } from './steps.ts';
import { World } from './world.ts';

interface Scenario {
  id: string;
  title: string;
  fixture?: string;
  /** The installation's default; the Go controller's is Hold. */
  onFailure?: 'Continue' | 'Hold';
  /** Whether the installation trusts publishers. */
  trustPublishers?: boolean;
  likeKuberik?: boolean;
  steps: (string | Record<string, unknown>)[];
}

const FILES = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.yaml'));
const readScenarios = (file: string) => parse(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')) as Scenario[];
const titled = (scenarios: Scenario[]) => scenarios.map((scenario) => [scenario.id, scenario.title, scenario] as const);

for (const file of FILES) {
  describe(file, () => {
    const likeKuberik = file.startsWith('original-');
    it.each(titled(readScenarios(file)))('%s %s', (_id, _title, scenario) => play(scenario, 'Hold', likeKuberik));
  });
}

/** In these a newer version waits behind a failed one. */
const NEED_HOLD = ['R30', 'R33', 'R77'];
/** In these time alone ends a bake, or tells what health is new; a first deployment passes RolloutGates; one without bake settings is over at once. */
const NEED_LIKE_KUBERIK = ['R21', 'R22', 'R34', 'R41', 'R54', 'R65', 'R79', 'R119', 'RM13', 'recovery-bake'];
const DIFFER = [...NEED_HOLD, ...NEED_LIKE_KUBERIK];

describe('the cases of the Go controller, as an installation has it by default', () => {
  const originals = FILES.filter((name) => name.startsWith('original-')).flatMap(readScenarios);
  const others = originals.filter(({ id }) => !DIFFER.includes(id));
  it.each(titled(others))('%s %s', (_id, _title, scenario) => play(scenario, 'Continue'));
  it.each(DIFFER)('%s differs, as docs/compatibility.md says', async (id) => {
    await expect(play(originals.find((each) => each.id === id)!, 'Continue')).rejects.toThrow('step');
  });
});

async function play(scenario: Scenario, onFailure: 'Continue' | 'Hold', likeKuberik = false): Promise<void> {
  const world = new World({
    onFailure: scenario.onFailure ?? onFailure,
    likeKuberik: scenario.likeKuberik ?? likeKuberik,
    trustPublishers: scenario.trustPublishers ?? false,
  });
  await FIXTURES[scenario.fixture ?? 'F0']!(world);
  for (const [index, step] of scenario.steps.entries()) await run(world, step, index);
}

async function run(world: World, step: string | Record<string, unknown>, index: number): Promise<void> {
  const [name, data] = typeof step === 'string' ? [step, undefined] : Object.entries(step)[0]!;
  const at = `step ${index + 1} (${name})`;
  try {
    if (name === 'expect') check(world, inTime(data, world.now));
    else if (STEPS[name]) await STEPS[name](world, inTime(data, world.now));
    else throw new Error('no such step');
    if (name === 'settle') saysWhy(world);
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
