import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { MANIFESTS, textOf } from './files.ts';

const COMMAND = /```sh\nnamespace=NAMESPACE name=NAME.*\n([\s\S]+?)```/;
const OLD =
  /serviceaccount:metacontroller:|\bServiceAccount, name: metacontroller(?![\w-])|(namespace|metadata\.name): metacontroller(?![\w-])/;

it.each([
  ['ops', 'controller'],
  ['metacontroller-system', 'metacontroller-operator'],
])('the command in the README leaves no old name of Metacontroller’s account: %s/%s', (namespace, name) => {
  const root = temporaryFolder('manifests-');
  cpSync(MANIFESTS, join(root, 'manifests'), { recursive: true });
  const [, command = ''] = COMMAND.exec(textOf('metacontroller/README.md')) ?? [];
  execFileSync('sh', ['-euc', command], { cwd: root, env: { ...process.env, namespace, name } });
  const read = (file: string) => readFileSync(join(root, 'manifests', file), 'utf8');
  const ours = readdirSync(join(root, 'manifests'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.yaml') && !file.startsWith('metacontroller/'),
  );
  expect(ours.filter((file) => OLD.test(textOf(file))).length).toBeGreaterThan(8);
  expect(ours.filter((file) => OLD.test(read(file)))).toEqual([]);
  const user = `'system:serviceaccount:${namespace}:${name}'`;
  for (const file of ['webhooks/mutating.yaml', 'webhooks/validating.yaml', 'policies/flux-status.yaml'])
    expect(read(file)).toContain(`request.userInfo.username != ${user}`);
  expect(read('rbac/metacontroller.yaml')).toContain(`kind: ServiceAccount, name: ${name}, namespace: ${namespace} }`);
  expect(read('app/network-policy.yaml')).toContain(`kubernetes.io/metadata.name: ${namespace} }`);
});
