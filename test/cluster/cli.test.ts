/** The first example in each command's --help, against the real API server. Its output is in golden/examples. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandDefinition } from '../../cli/command/command.ts';
import { COMMANDS } from '../../cli/commands/index.ts';
import { USERS, type UserName } from '../../dev/local/controlPlane/users.ts';
import { type Called, call } from '../support/command.ts';
import { objectOf } from '../support/objects.ts';
import { type AnyObject, kustomization, rollout, sharedCluster, waitFor } from './support/cluster.ts';
import { STAGES, type Stage } from './support/exampleStages.ts';
import { expectGolden, masked } from './support/golden.ts';
import { scenarioOf } from './support/rolloutScenario.ts';

const view = sharedCluster();

const as = (user: UserName, words: string[], now = Date.now): Promise<Called> =>
  call(words, { now, env: { KUBECONFIG: join(view.dir, USERS[user].file) } });

/**
 * `ui` and `mcp` serve until they are ended: tests of the page and test/cli/mcp.test.ts cover them. `completion` needs
 * no cluster, and `doctor` is below.
 */
const ELSEWHERE = ['ui', 'mcp', 'completion', 'doctor'];
const SHOWN = COMMANDS.filter(({ name }) => !ELSEWHERE.includes(name));

const minuteLater = () => Date.now() + 60_000;
/** Ages get a fixed width, whatever this machine's speed, and calendars start on a Wednesday. */
const NOW: Record<string, () => number> = {
  get: minuteLater,
  history: minuteLater,
  calendar: () => Date.parse('2037-11-25T10:00:00Z'),
};

/** `audit` prints the current time; the output of `adopt` is in test/cli/golden. */
const CONTAINS: Record<string, string> = { audit: 'Deployed', adopt: '+kind: Rollout' };

/** The example as a user types it, with the names of this stage. */
function wordsOf(line: string, { shop, flux }: Stage, { options = [] }: CommandDefinition): string[] {
  const text = line
    .replaceAll('my-app', 'app')
    .replace('-n shop', `-n ${shop}`)
    .replace('-n flux-system', `-n ${flux}`);
  const words = [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const asks = options.some(({ flags }) => /--yes/.test(flags));
  return [...words, ...(/ -n /.test(text) ? [] : ['-n', shop]), ...(asks ? ['--yes'] : [])];
}

it.concurrent.for(SHOWN)('$name does what its first example shows', async (entry, { expect }) => {
  const { name } = entry;
  const definition = await entry.load();
  const [what, line] = definition.examples[0]!;
  const shop = await view.newNamespace();
  const stage = { shop, flux: await view.newNamespace(), scenario: scenarioOf(view, shop) };
  await STAGES[name]!(stage, view);
  const { code, out, err } = await as('sre', wordsOf(line, stage, definition), NOW[name]);
  expect(code, `${line}: ${err}`).toBe(0);
  if (name in CONTAINS) return expect(out).toContain(CONTAINS[name]);
  const text = masked(`${out}${err && `--- stderr\n${err}`}`.replaceAll(stage.flux, 'GATES'), shop);
  const file = join(import.meta.dirname, `golden/examples/${name}.txt`);
  await expect(`# ${what}\n$ kubectl rollouts ${line}\n${text}`).toMatchFileSnapshot(file);
});

describe('doctor', () => {
  it('finds pending objects with missing references, in a correct installation', async () => {
    const ns = await view.newNamespace();
    const spec = { gates: [{ name: 'gone' }], writeBack: { imagePolicy: 'app-deployed' } };
    await view.developer.create(rollout(ns, 'app', { spec }));
    await view.developer.create(
      kustomization(ns, 'app', { variables: { V: 'nobody' }, annotations: { 'gate.fluxcd.io/gates': 'missing' } }),
    );
    const metadata = { namespace: ns, name: 'qa' };
    await view.sre.create(
      objectOf('RolloutGate', { metadata, spec: { rolloutRef: { name: 'nobody' } } } as never) as AnyObject,
    );
    const { out, err, code } = await waitFor(async () => {
      const called = await as('admin', ['doctor', '-n', ns]);
      return called.err.startsWith('7 findings') && called;
    }, 'seven findings');
    const stable = out.replace(/v1\.\d+\.\d+/, 'VERSION').replace(/all \d+/, 'all');
    await expectGolden('doctor-findings', `${stable}--- stderr\n${err}--- exit code ${code}\n`, ns);
  });

  it('names objects that the user may not read', async () => {
    const { out, code } = await as('developer', ['doctor', '-n', await view.newNamespace(), '-o', 'json']);
    const { findings } = JSON.parse(out) as { findings: { level: string; about: string }[] };
    expect(code).toBe(0);
    expect(findings.filter(({ level }) => level === 'unseen').map(({ about }) => about)).toEqual(
      expect.arrayContaining(['Kinds', 'Webhooks', 'Admission', 'Rights']),
    );
  });
});
