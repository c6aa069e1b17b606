/** `doctor` expects of an installation what the manifests install. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { EXPECTED_CONTROLLERS, OLDEST_METACONTROLLER } from '../../cli/doctor/checkMetacontroller.ts';
import { checkWebhooks, EXPECTED_WEBHOOKS } from '../../cli/doctor/checkWebhooks.ts';
import { REPOSITORY } from '../../dev/repository.ts';

const read = (path: string) => readFileSync(join(REPOSITORY, 'manifests', path), 'utf8');
/** Controllers for optional components of Flux. */
const OPTIONAL = ['flux-helm', 'flux-image-automation', 'hold-helm', 'hold-image-automation'];

it('the controllers', () => {
  const installed = readdirSync(join(REPOSITORY, 'manifests/controllers'))
    .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
    .flatMap((file) => parseAllDocuments(read(`controllers/${file}`)).map((document) => document.toJS()))
    .map(({ kind, metadata }) => `${kind.toLowerCase()}s/${metadata.name}`)
    .filter((name) => !OPTIONAL.some((each) => name.endsWith(`/${each}`)));
  const expected = Object.entries(EXPECTED_CONTROLLERS).flatMap(([kind, names]) =>
    names.map((name) => `${kind}/${name}`),
  );
  expect(expected.sort()).toEqual(installed.sort());
});

it('the oldest Metacontroller is that of docs/install.md', () => {
  const page = readFileSync(join(REPOSITORY, 'docs/install.md'), 'utf8');
  expect(/^\| Metacontroller \| (\S+) or newer/m.exec(page)?.[1]).toBe(OLDEST_METACONTROLLER);
});

it.each([
  ['mutatingwebhookconfigurations', 'webhooks/mutating.yaml'],
  ['validatingwebhookconfigurations', 'webhooks/validating.yaml'],
])('the webhooks: %s', (resource, file) => {
  const installed = (parse(read(file)).webhooks as { name: string }[]).map(({ name }) => name.split('.')[0]);
  expect([...EXPECTED_WEBHOOKS[resource]!].sort()).toEqual(installed.sort());
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
