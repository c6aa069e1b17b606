/**
 * Answers of `__complete` to kubectl, flux and the shells' scripts, in Cobra's protocol: candidates, then `:` and a
 * directive. Names from a cluster: test/cli/outputs.test.ts.
 */

import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/commands/index.ts';
import { complete } from '../../cli/completion/complete.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';

const ask = (words: string[]) =>
  complete(words, async () => {
    throw new Error('no cluster');
  });
const NO_FILES = ':4';
const NO_FILES_NO_SPACE = ':6';

// As flux sends them: the words before the cursor, and last the word at the cursor, which may be empty.
describe.each<[string, string[], string[]]>([
  [
    'commands, with what each does',
    ['un'],
    ['unpin\tresume automation after a pin', 'unblock\tlet automation continue after a failed version', NO_FILES],
  ],
  [
    'an option',
    ['get', '--until'],
    ['--until\twith --watch: exit once all Rollouts have reached this state', NO_FILES],
  ],
  [
    'an option that every command has',
    ['get', '--names'],
    ["--namespace\tnamespace; the context's when absent", NO_FILES],
  ],
  ['the values of an option', ['get', '--watch', '--until', ''], ['waiting', 'deployed', 'baked', NO_FILES]],
  ['a value after the sign', ['get', '--output=js'], ['json', NO_FILES]],
  ['a value after a short option', ['get', '-o', 'w'], ['wide', NO_FILES]],
  ['kinds, which a name follows', ['why', 'rollouts'], ['rolloutschedule/', NO_FILES_NO_SPACE]],
  ['the shells', ['completion', ''], ['bash', 'zsh', 'fish', NO_FILES]],
  ['nothing where only the cluster would know', ['get', ''], [NO_FILES]],
  [
    'nothing for a command that does not exist, but commands',
    ['nonsense', 'ope'],
    ['open\topen a Gate or RolloutGate', NO_FILES],
  ],
  ['nothing that does not fit', ['get', '--nonsense'], [NO_FILES]],
])('%s', (_, words, lines) => {
  it(`complete ${words.join(' ')}_`, async () => {
    expect(await ask(words)).toEqual(lines);
  });
});

it('offers every command that help lists', async () => {
  const shown = COMMANDS.map(({ name, summary }) => `${name}\t${summary}`);
  expect(await ask([''])).toEqual([...shown, NO_FILES]);
});

describe('completions that need the cluster', () => {
  const OBJECTS: Record<string, object[]> = {
    rollouts: [
      {
        metadata: { name: 'my-app' },
        status: {
          availableReleases: [{ tag: '1.1.0' }, { tag: '1.2.0' }],
          history: [{ version: { tag: '1.1.0' } }, { version: { tag: '1.0.0' } }],
        },
      },
    ],
    rolloutgates: [{ metadata: { name: 'qa' }, spec: { rolloutRef: { name: 'my-app' } } }],
    gates: [{ metadata: { name: 'freeze' } }],
    kustomizations: [{ metadata: { name: 'web' } }],
    imagepolicies: [{ metadata: { name: 'app' } }],
    rolloutbudgets: [{ metadata: { name: 'fleet' } }],
    clusterrolloutbudgets: [{ metadata: { name: 'all' } }],
  };
  const client = {
    async *pages({ resource }: { resource: string }) {
      yield { items: OBJECTS[resource] ?? [], resourceVersion: '1' };
    },
    get: async ({ resource, name }: { resource: string; name: string }) =>
      OBJECTS[resource]?.find((object) => (object as { metadata: { name: string } }).metadata.name === name),
  };
  const offered = async (line: string) => {
    const lines = await complete(line.split(' '), async () => ({ client, namespace: 'shop' }) as unknown as Cluster);
    return lines.slice(0, -1);
  };

  it.each<[string, string[]]>([
    ['deploy my-app ', ['1.2.0', '1.1.0', '1.0.0']],
    ['pin my-app 1.0', ['1.0.0']],
    ['rollback my-app ', ['1.2.0', '1.1.0', '1.0.0']],
    ['bypass my-app ', ['1.2.0', '1.1.0', '1.0.0']],
    ['approve rolloutgate/qa ', ['1.2.0', '1.1.0', '1.0.0']],
    ['approve rg/qa 1.2', ['1.2.0']],
    ['approve gate/freeze ', []],
    ['deploy nothing ', []],
    ['status my-app --release ', ['1.2.0', '1.1.0', '1.0.0']],
    ['why my', ['my-app']],
    ['why ks/', ['ks/web']],
    ['why r', ['rollout/', 'rolloutgate/', 'rolloutschedule/', 'rolloutbudget/']],
    ['approve ', ['my-app', 'rolloutgate/', 'gate/']],
    ['adopt ', ['kustomization/', 'ocirepository/']],
    ['adopt ks/web --policy ', ['app']],
    ['adopt ks/web --rollout ', ['my-app']],
    ['continue ', ['fleet', 'clusterrolloutbudget/all']],
    ['open ', ['freeze', 'rolloutgate/qa']],
    ['freeze ', ['freeze']],
    ['freeze --kinds Ku', ['Kustomization']],
    ['freeze --every Fri', ['Friday']],
    ['freeze --timezone Europe/Berl', ['Europe/Berlin']],
  ])('%s', async (line, words) => {
    expect(await offered(line)).toEqual(words);
  });

  it('have only words that a shell takes as they are: it puts them on the command line without quotes', async () => {
    const tags = ['$(reboot)', '1.0.0;reboot', '`reboot`', '1 0', "1'0", '1.0.0'];
    const name = 'evil';
    OBJECTS.rollouts!.push({ metadata: { name }, status: { history: tags.map((tag) => ({ version: { tag } })) } });
    expect(await offered(`deploy ${name} `)).toEqual(['1.0.0']);
  });
});
