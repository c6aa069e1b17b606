/**
 * Plays the scenarios of this folder. Those that docs/reference cites have an id: R, RM and RT with a number are cases
 * of the Go controller's test suite, Q with a number its quirks.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { inTime, partsOf, putFixture } from '../../../dev/sim/steps.ts';
import { CHECKS } from './expectation.ts';
import { saysWhy } from './explained.ts';
import { ScenarioCluster, T0 } from './scenarioCluster.ts';
import { STEPS } from './steps.ts';

export interface Scenario {
  id?: string;
  title: string;
  fixture?: string;
  /** The default of the installation; the Go controller's is Hold. */
  onFailure?: 'Continue' | 'Hold';
  /** Whether the installation trusts publishers. */
  trustPublishers?: boolean;
  kuberikCompat?: boolean;
  steps: (string | Record<string, unknown>)[];
}

export const FILES = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.yaml'));
export const readScenarios = (file: string) =>
  parse(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')) as Scenario[];
export const titled = (scenarios: Scenario[]) =>
  scenarios.map((scenario) => [[scenario.id ?? [], scenario.title].flat().join(' '), scenario] as const);

export async function play(
  scenario: Scenario,
  onFailure: 'Continue' | 'Hold',
  kuberikCompat = false,
  Kind: typeof ScenarioCluster = ScenarioCluster,
): Promise<void> {
  const cluster = new Kind({
    onFailure: scenario.onFailure ?? onFailure,
    kuberikCompat: scenario.kuberikCompat ?? kuberikCompat,
    trustPublishers: scenario.trustPublishers ?? false,
  });
  await putFixture(cluster, scenario.fixture);
  for (const [index, step] of scenario.steps.entries()) await run(cluster, step, index);
}

/** Steps that check, and the step that each of them performs first. */
const CHECKING: Record<string, string | undefined> = { expect: undefined, synced: 'sync', settled: 'settle' };

async function run(cluster: ScenarioCluster, step: Scenario['steps'][number], index: number): Promise<void> {
  const [name, data] = partsOf(step);
  try {
    const isCheck = name in CHECKING;
    const does = isCheck ? CHECKING[name] : name;
    const given = inTime(data, cluster.now, T0);
    if (does !== undefined) await STEPS[does]!(cluster, isCheck ? undefined : given);
    if (does === 'settle' || does === 'release') saysWhy(cluster);
    if (isCheck) check(cluster, given);
  } catch (error) {
    if (error instanceof Error) error.message = `step ${index + 1} (${name}): ${error.message}`;
    throw error;
  }
}

function check(cluster: ScenarioCluster, expected: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(expected)) {
    if (!CHECKS[name]) throw new Error(`no such expectation: ${name}`);
    CHECKS[name](cluster, value);
  }
}
