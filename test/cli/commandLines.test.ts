/** Command lines that we show, the examples of each command and the equivalents on the page, are ones that the program takes. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/commands/index.ts';
import { commandFirst, createProgram } from '../../cli/program.ts';
import { type Asked, commandOf, PROGRAM } from '../../client/board/requests.ts';

/** Which command runs with which arguments. @throws where the line is not taken. */
async function taken(shown: string): Promise<string> {
  // What the shell does with the output is not ours.
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

describe.each(COMMANDS.filter(({ isHidden }) => !isHidden).map((entry) => [entry.name, entry] as const))(
  '%s',
  (name, entry) => {
    it('has examples that it takes', async () => {
      const { examples } = await entry.load();
      expect(examples.length).toBeGreaterThan(0);
      for (const [, line] of examples) expect(await taken(line)).toMatch(new RegExp(`^${name}\\b`));
    });
  },
);

const rollout = { namespace: 'shop', name: 'checkout' };
const gate = { namespace: 'shop', name: 'incident' };
const rolloutGate = { namespace: 'shop', name: 'qa' };
const reason = "it's INC-42";
const spec = { default: 'opened' as const, selects: { kinds: ['Kustomization' as const, 'Rollout' as const] } };
const friday = { timezone: 'Europe/Berlin', action: 'Close' as const, rules: [{ daysOfWeek: ['Friday' as const] }] };

const RUNBOOKS = readFileSync(new URL('../../docs/runbooks.md', import.meta.url), 'utf8');

it.each([...RUNBOOKS.matchAll(/`kubectl rollouts (\w[^`]*)`/g)].map(([, line]) => line!))(
  'docs/runbooks.md: kubectl rollouts %s',
  async (line) => expect(await taken(line)).toMatch(new RegExp(`^${line.split(' ')[0]}\\b`)),
);

describe('what the page shows as its equivalent', () => {
  it.each<[Asked, string]>([
    [{ do: 'deploy', rollout, version: '1.2.0', reason: 'fix' }, 'deploy checkout 1.2.0'],
    [{ do: 'bypass', rollout, version: '1.2.0', reason: 'fix' }, 'bypass checkout 1.2.0'],
    [{ do: 'pin', rollout, version: '1.2.0', reason: '' }, 'pin checkout 1.2.0'],
    [{ do: 'pass-gates', rollout, version: '1.2.0', reason: '' }, 'approve checkout 1.2.0'],
    [{ do: 'unpin', rollout, reason: '' }, 'unpin checkout'],
    [{ do: 'retry', rollout, reason: '' }, 'retry checkout'],
    [{ do: 'unblock', rollout, reason: '' }, 'unblock checkout'],
    [{ do: 'approve', rolloutGate, version: '1.2.0', reason: 'tested' }, 'approve rolloutgate/qa 1.2.0'],
    [{ do: 'reject', rolloutGate, version: '1.2.0', reason: '' }, 'reject rolloutgate/qa 1.2.0'],
    [{ do: 'open', gate, reason: '', version: '1.2.0' }, 'open incident'],
    [{ do: 'close', gate, reason: '', at: '2026-12-24T08:00:00Z' }, 'close incident'],
    [{ do: 'freeze', gate, reason: '', spec: { ...spec, window: '24h' }, closes: true }, 'freeze incident'],
    [{ do: 'freeze', gate, reason: '', spec: { ...spec, schedule: friday }, closes: false }, 'freeze incident'],
  ])('%o', async (asked, command) => {
    const line = commandOf(asked);
    expect(line.startsWith(`${PROGRAM} `)).toBe(true);
    expect(await taken(line.slice(PROGRAM.length + 1))).toBe(command);
  });

  it('keeps a reason in one word', () => {
    expect(commandOf({ do: 'unpin', rollout, reason })).toContain("--reason 'it'\\''s INC-42'");
  });
});
