/** Every example of every --help, on a cluster that has what it names: it does what it says, and prints what is in golden/examples. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { CommandDefinition } from '../../cli/command/command.ts';
import { COMMANDS } from '../../cli/commands/index.ts';
import { USERS } from '../../dev/local/controlPlane/users.ts';
import { call } from '../support/command.ts';
import { sharedCluster } from './support/cluster.ts';
import { STAGES, type Stage } from './support/exampleStages.ts';
import { masked } from './support/golden.ts';
import { storyOf } from './support/rolloutStory.ts';

const view = sharedCluster();
const folder = mkdtempSync(join(tmpdir(), 'examples-'));
afterAll(() => rmSync(folder, { recursive: true }));

const kubeconfig = join(folder, 'kubeconfig');
/** With the contexts that examples name, of the one cluster that there is. */
beforeAll(() => {
  const config = parse(readFileSync(join(view.dir, USERS.sre.file), 'utf8'));
  const { context } = config.contexts[0];
  const contexts = [...config.contexts, ...['staging', 'production'].map((name) => ({ name, context }))];
  writeFileSync(kubeconfig, stringify({ ...config, contexts }), { mode: 0o600 });
});

/** `ui` and `mcp` serve until they are ended: tests of the page and test/cli/mcp.test.ts drive them. */
const SERVERS = ['ui', 'mcp'];
const SHOWN = COMMANDS.filter(({ isHidden, aliasOf, name }) => !isHidden && !aliasOf && !SERVERS.includes(name));
/** What they print is about the whole cluster, and other tests share it. */
const ABOUT_ALL = [/^doctor/, /^calendar -A/, /^audit/];

const minuteLater = () => Date.now() + 60_000;
/** How wide an age is does not depend on how fast this machine is, and a calendar begins on a Wednesday. */
const NOW: Record<string, () => number> = {
  get: minuteLater,
  history: minuteLater,
  calendar: () => Date.parse('2037-11-25T10:00:00Z'),
};

/** As it is typed, with the names of this stage. */
function wordsOf(line: string, { shop, flux }: Stage, { options = [], isLocal }: CommandDefinition): string[] {
  const [typed = ''] = line.split(/ [>|&]/);
  const text = typed
    .replaceAll('my-app', 'app')
    .replace('--diff 12 13', '--diff 1 2')
    .replace('clusterrolloutbudget/fleet', `clusterrolloutbudget/fleet-${shop}`)
    .replace('-n shop', `-n ${shop}`)
    .replace('-n flux-system', `-n ${flux}`)
    .replace(/team=(shop|payments)/, `team=${shop}`)
    .replace('audit.log', join(view.dir, 'audit.log'))
    .replace('apps/app', join(folder, 'apps'));
  const words = [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const has = (flag: RegExp) => options.some(({ flags }) => flag.test(flags));
  return [
    ...words,
    ...(isLocal || /(^| )(-n|-A)\b/.test(text) ? [] : ['-n', shop]),
    ...(has(/--yes/) ? ['--yes'] : []),
  ];
}

describe.each(SHOWN.map((entry) => [entry.name, entry] as const))('%s', (name, entry) => {
  it.concurrent('does what its examples say', async ({ expect }) => {
    const definition = await entry.load();
    const printed: string[] = [];
    for (const [what, line] of definition.examples) {
      const shop = await view.newNamespace();
      const stage = { shop, flux: await view.newNamespace(), story: storyOf(view, shop) };
      await STAGES[name]!(stage, view, line);
      const called = await call(wordsOf(line, stage, definition), {
        now: NOW[name] ?? Date.now,
        env: { KUBECONFIG: kubeconfig },
      });
      const isAboutAll = ABOUT_ALL.some((pattern) => pattern.test(line));
      expect(isAboutAll ? [0, 1] : [0], `${line}: ${called.err}`).toContain(called.code);
      if (isAboutAll) continue;
      // Whoever waits sees more or less of the way.
      const notes = line.includes('--wait') ? '' : called.err;
      const text = `${called.out}${notes && `--- stderr\n${notes}`}`
        .replaceAll(stage.flux, 'GATES')
        .replaceAll(folder, 'FOLDER')
        .replace(/\b\w+ ahead/, 'SPAN ahead');
      printed.push(`# ${what}\n$ kubectl rollouts ${line}\n${masked(text, stage.shop)}`);
    }
    const file = join(import.meta.dirname, `golden/examples/${name}.txt`);
    if (printed.length > 0) await expect(printed.join('\n')).toMatchFileSnapshot(file);
  }, 120_000);
});
