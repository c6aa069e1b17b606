/** `doctor` expects of an installation what the manifests install. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { EXPECTED_CONTROLLERS, OLDEST_METACONTROLLER } from '../../cli/doctor/checkMetacontroller.ts';
import { EXPECTED_WEBHOOKS } from '../../cli/doctor/checkWebhooks.ts';
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
