/** Command lines are on their own lines, in all texts of scenarios and in the output of commands. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandInside } from '../../support/commands.ts';
import { explained } from './explained.ts';
import { FILES, play, readScenarios, titled } from './play.ts';
import { ScenarioCluster } from './scenarioCluster.ts';

/** Each line of kubectl or of the command is a complete command. */
const COMMANDS = ['command', 'kubectl'];

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => (COMMANDS.includes(key) ? [] : textsOf(below)));
}

class Copied extends ScenarioCluster {
  override async sync(): Promise<boolean> {
    const isSettled = await super.sync();
    const texts = textsOf([this.rollout.status, explained(this)]);
    expect(texts.filter((text) => commandInside(text) !== undefined)).toEqual([]);
    return isSettled;
  }
}

describe('texts of scenarios', () => {
  const withCommands = FILES.filter((file) => /approval|blocker|gate|gap/i.test(file));
  it.each(withCommands)('%s', async (file) => {
    for (const [, , scenario] of titled(readScenarios(file))) await play(scenario, 'Hold', false, Copied);
  });
});

const TESTS = join(import.meta.dirname, '../..');
const goldens = ['cli/golden', 'cluster/golden'].flatMap((folder) =>
  readdirSync(join(TESTS, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.txt'))
    .map((file) => `${folder}/${file}`),
);

it.each(goldens)('golden %s', (file) => {
  const printed = readFileSync(join(TESTS, file), 'utf8').split('\n');
  // The command line, its examples and its options are not messages.
  const messages = printed.filter((line) => !/^\s*(\$|#|\+|-- )|^Usage:|--help/.test(line));
  expect(messages.filter((line) => commandInside(line) !== undefined)).toEqual([]);
});

it.each([
  ['To open: kubectl -n shop annotate gate/a b=c.', true],
  ['it goes on (kubectl rollouts open gate/a)', true],
  ['To open it:\n  kubectl -n shop annotate gate/a b=c', false],
  ['what kubectl and flux have added stays', false],
])('%j has a command inside a sentence: %s', (text, is) => {
  expect(commandInside(text) !== undefined).toBe(is);
});
