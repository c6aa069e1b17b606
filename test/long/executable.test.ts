/** The command as a single executable, in an empty folder and with an empty PATH. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { isTarget, type Target } from '../../dev/local/binaries/nodeBinary.ts';
import { USERS } from '../../dev/local/controlPlane/users.ts';
import { buildCli } from '../../dev/scripts/build-cli.ts';
import { type BINS, buildExecutable } from '../../dev/scripts/executable.ts';
import { ownCluster } from '../cluster/support/ownCluster.ts';
import { scenarioOf } from '../cluster/support/rolloutScenario.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const { view } = await ownCluster();
const folder = temporaryFolder('executable-');
const out = join(folder, 'out');

const env = { HOME: folder, KUBECONFIG: join(view.dir, USERS.developer.file), TZ: 'UTC' };
const run = async (name: (typeof BINS)[number], ...args: string[]) =>
  (await promisify(execFile)(join(out, name), args, { cwd: folder, env })).stdout;

const target = `${process.platform}-${process.arch}`;

describe.skipIf(!isTarget(target))(`the executable (Node makes none for ${target} where this is skipped)`, () => {
  let namespace: string;

  beforeAll(async () => {
    await buildCli(join(folder, 'built'));
    await buildExecutable(join(folder, 'built'), out, target as Target);
    namespace = await view.newNamespace();
    const scenario = scenarioOf(view, namespace);
    await scenario.create();
    await scenario.publish('1.0.0');
    await scenario.headIs('1.0.0', 'Succeeded');
  }, 300_000);

  it('has the names of the package, its version and its help', async () => {
    const { version } = JSON.parse(readFileSync(join(folder, 'built/package.json'), 'utf8'));
    expect(await run('kubectl-rollouts', '--version')).toBe(`${version}\n`);
    expect(await run('flux-rollouts', 'get', '--help')).toMatch(/^Usage: flux rollouts get /);
    expect(await run('kubectl_complete-rollouts', 'get', '-n', namespace, '')).toBe('app\n:4\n');
  });

  it('talks to a cluster, and writes there', async () => {
    expect(await run('kubectl-rollouts', 'get', '-n', namespace)).toMatch(/^app {3}✔ 1\.0\.0 /);
    const pinned = await run('kubectl-rollouts', 'pin', 'app', '1.0.0', '-n', namespace, '--dry-run=server');
    expect(pinned).toContain('(server dry run)');
  });

  it('is called by kubectl as its plugin', () => {
    const PATH = `${out}:${process.env.PATH}`;
    const args = ['rollouts', 'status', 'app', '-n', namespace];
    expect(execFileSync('kubectl', args, { encoding: 'utf8', env: { ...env, PATH } })).toMatch(/1\.0\.0 runs\n$/);
  });

  it('serves its embedded page', async () => {
    const child = spawn(join(out, 'kubectl-rollouts'), ['ui', '--no-open'], { cwd: folder, env });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [line] = await new Promise<string[]>((resolve) =>
      child.stdout.once('data', (chunk) => resolve(String(chunk).split('\n'))),
    );
    const { origin } = new URL(line!);
    const document = await (await fetch(origin)).text();
    const paths = [...document.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) expect((await fetch(`${origin}${path}`)).status).toBe(200);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  });

  it('has the licenses of its content', () => {
    const notices = readFileSync(join(out, 'THIRD_PARTY_NOTICES.txt'), 'utf8');
    const wanted = ['\ncommander ', '\npreact ', '\nNode.js\n', '- V8, '];
    expect(wanted.filter((text) => !notices.includes(text))).toEqual([]);
  });
});
