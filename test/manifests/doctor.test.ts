/** `doctor` expects of an installation what the manifests install. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OLDEST_METACONTROLLER } from '../../cli/doctor/checkMetacontroller.ts';
import { checkWebhooks } from '../../cli/doctor/checkWebhooks.ts';
import { REPOSITORY } from '../../dev/repository.ts';

const read = (path: string) => readFileSync(join(REPOSITORY, 'manifests', path), 'utf8');
it('the oldest Metacontroller is that of docs/install.md', () => {
  const page = readFileSync(join(REPOSITORY, 'docs/install.md'), 'utf8');
  expect(/^\| Metacontroller \| (\S+) or newer/m.exec(page)?.[1]).toBe(OLDEST_METACONTROLLER);
});

describe('a webhook with another failure policy', () => {
  const findingsWith = async (changed: string, failurePolicy: string) => {
    const list = async ({ resource }: { resource: string }) => {
      const file = resource.startsWith('mutating') ? 'webhooks/mutating.yaml' : 'webhooks/validating.yaml';
      const { webhooks } = parse(read(file)) as { webhooks: { name: string }[] };
      return [
        { webhooks: webhooks.map((each) => (each.name.startsWith(`${changed}.`) ? { ...each, failurePolicy } : each)) },
      ];
    };
    const found = await checkWebhooks({ client: { list }, now: () => 0 } as never);
    return found.filter(({ about }) => about === 'Webhooks').map(({ level, text }) => `${level}: ${text}`);
  };

  it.each([
    ['gate', 'Fail', 'fine: registered'],
    ['rollout', 'Ignore', 'problem: 1 of 9 mutating webhooks have failurePolicy Ignore'],
    ['flux-unmarked', 'Fail', 'problem: The webhooks flux-unmarked.admission.kuberik.com have failurePolicy Fail'],
  ])('%s: %s', async (name, policy, text) => {
    expect((await findingsWith(name, policy))[0]).toContain(text);
  });
});
