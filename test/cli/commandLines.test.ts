/** The program accepts the command lines in examples of commands and in runbooks. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/commands/index.ts';
import { commandFirst, createProgram } from '../../cli/program.ts';
import { PROGRAM } from '../../client/actions/writes/plannedWrite.ts';

/** Which command runs with which arguments. @throws where the line is not taken. */
async function taken(shown: string): Promise<string> {
  // Redirections and pipes are the shell's.
  const [line = ''] = shown.split(/ [>|&]/);
  const words = commandFirst([...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? ''));
  let seen = '';
  const run = async (name: string, _: unknown, invocation: { arguments: readonly unknown[] }) => {
    seen = [name, ...invocation.arguments.filter((each) => each !== undefined)].join(' ');
  };
  const streams = { print: () => {}, note: () => {}, columns: 100 };
  const program = await createProgram({ name: PROGRAM, version: '0.0.0', run, ...streams }, new Set(words.slice(0, 1)));
  await program.parseAsync([...words], { from: 'user' });
  return seen;
}

describe.each(COMMANDS.map((entry) => [entry.name, entry] as const))('%s', (name, entry) => {
  it('begins its help with its purpose, in a line', async () => {
    const [purpose = '', blank = '', ...details] = (await entry.load()).description.split('\n');
    expect([purpose, blank]).toEqual([expect.stringMatching(/^[A-Z].{10,103}[.:]$/), '']);
    // Help wraps no line of a text that has an indented one.
    expect(details.filter((line) => /^\s/.test(line))).toEqual([]);
  });

  it('has examples that it takes', async () => {
    const { examples } = await entry.load();
    expect(examples.length).toBeGreaterThan(0);
    for (const [, line] of examples) expect(await taken(line)).toMatch(new RegExp(`^${name}\\b`));
  });
});

const RUNBOOKS = readFileSync(new URL('../../docs/runbooks.md', import.meta.url), 'utf8');

it.each([...RUNBOOKS.matchAll(/`kubectl rollouts (\w[^`]*)`/g)].map(([, line]) => line!))(
  'docs/runbooks.md: kubectl rollouts %s',
  async (line) => expect(await taken(line)).toMatch(new RegExp(`^${line.split(' ')[0]}\\b`)),
);

it.each([
  ['-n open get freeze', 'get -n open freeze'],
  ['--namespace open get', 'get --namespace open'],
  ['--context close --as why status web', 'status --context close --as why web'],
  ['--namespace=open get', 'get --namespace=open'],
  ['--no-color get open', 'get --no-color open'],
  ['-n open', ''],
  ['--kubeconfig=a --no-color', ''],
  ['--kubeconfig a bogus', '--kubeconfig a bogus'],
])('%s is %s: the value of an option is no command', (line, words) => {
  expect(commandFirst(line.split(' ')).join(' ')).toBe(words);
});
