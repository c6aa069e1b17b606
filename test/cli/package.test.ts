/**
 * The package as users get it: bundled, packed, installed in an empty folder without a registry, run on every Node of
 * this machine.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildCli } from '../../dev/scripts/build-cli.ts';
import { SOURCES } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { apiServer, json, list, rollout } from './apiServer.ts';

const folder = temporaryFolder('package-');
const bin = join(folder, 'installed/node_modules/.bin');

/** Without node_modules/.bin: the Node of this machine, 20 or newer. */
const PATH = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'));
const NODES = [
  ['the Node of the repository', process.execPath],
  [
    'the Node of this machine',
    execFileSync('which', ['node'], { encoding: 'utf8', env: { PATH: PATH.join(delimiter) } }).trim(),
  ],
] as const;

beforeAll(async () => {
  await buildCli(join(folder, 'built'));
  const npm = (args: string[], cwd: string) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  const packed = npm(['pack', '--silent', '--pack-destination', folder], join(folder, 'built')).trim();
  mkdirSync(join(folder, 'installed'));
  const cache = join(folder, 'cache');
  npm(
    ['install', '--offline', '--no-audit', '--no-fund', '--cache', cache, join(folder, packed)],
    join(folder, 'installed'),
  );
});

const run = (node: string, name: string, args: string[], env: Record<string, string> = {}) =>
  spawnSync(node, [join(bin, name), ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH!, HOME: folder, ...env },
  });

/** Not spawnSync: the server answers in this process. */
function start(node: string, args: string[], kubeconfig: string) {
  const child = spawn(node, [join(bin, 'kubectl-rollouts'), ...args], {
    env: { PATH: process.env.PATH!, HOME: folder, KUBECONFIG: kubeconfig, TZ: 'UTC' },
  });
  const seen = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    seen.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    seen.err += chunk;
  });
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, ...seen })),
  );
  return { child, seen, ended };
}

/**
 * APIs newer than Node 20 that cli/node20.ts doesn't provide. Methods with common names, such as iterator helpers, are
 * found only by running them.
 */
const TOO_NEW =
  /\b(withResolvers|isSubsetOf|isSupersetOf|isDisjointFrom|symmetricDifference|fromAsync|getOrInsert\w*|RegExp\.escape|Iterator\.from|Promise\.try)\b/g;

it('uses nothing that Node 20 lacks', () => {
  const text = readFileSync(join(folder, 'built/rollouts.js'), 'utf8');
  expect(text.match(TOO_NEW) ?? []).toEqual([]);
});

it('has the license of every package that its sources import', () => {
  const imported = SOURCES.filter(({ path }) => /^(connection|cli|ui)\//.test(path)).flatMap(
    ({ packages }) => packages,
  );
  const notices = readFileSync(join(folder, 'built/THIRD_PARTY_NOTICES.txt'), 'utf8');
  const wanted = new Set(imported.filter((name) => !name.startsWith('node:')));
  expect(wanted.size).toBeGreaterThan(10);
  expect([...wanted].filter((name) => !notices.includes(`\n${name} `))).toEqual([]);
});

describe.each(NODES)('on %s', (_, node) => {
  it('has its names, its version and its help', () => {
    expect(run(node, 'kubectl-rollouts', ['--help']).stdout).toMatch(/^Usage: kubectl rollouts /);
    expect(run(node, 'flux-rollouts', ['get', '--help']).stdout).toMatch(/^Usage: flux rollouts get /);
    expect(run(node, 'flux-rollouts', ['--version']).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('completes for kubectl and for flux', () => {
    expect(run(node, 'kubectl_complete-rollouts', ['hist']).stdout).toMatch(/^history\t.*\n:4\n$/);
    expect(run(node, 'flux-rollouts', ['__complete', 'hist']).stdout).toMatch(/^history\t.*\n:4\n$/);
  });

  it('reports errors without a stack', () => {
    const { status, stderr } = run(node, 'kubectl-rollouts', ['get'], { KUBECONFIG: '/nonexistent' });
    expect([status, stderr.split('\n').length]).toEqual([1, 2]);
  });

  it('talks to a cluster', async () => {
    const { kubeconfig } = await apiServer((_, response, url) =>
      json(response, list(url.pathname.endsWith('/rollouts') ? [rollout('app')] : [])),
    );
    const { code, out, err } = await start(node, ['get'], kubeconfig).ended;
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^app {3}✔ 1\.0\.0 deployed .* ago\n/);
  });

  it('serves its page, and ends with 130 at Ctrl-C', async () => {
    const { kubeconfig } = await apiServer((_, response, url) => {
      if (url.searchParams.has('watch')) return void response.writeHead(200).flushHeaders();
      return json(response, list(url.pathname.endsWith('/rollouts') ? [rollout('app')] : []));
    });
    const page = start(node, ['ui', '--no-open'], kubeconfig);
    await new Promise((resolve) => page.child.stdout.once('data', resolve));
    const { origin, hash } = new URL(page.seen.out.trim());
    const document = await (await fetch(origin)).text();
    for (const [, path] of document.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
      expect((await fetch(`${origin}${path}`)).status).toBe(200);
    }
    const stream = await fetch(`${origin}/api/stream`, { headers: { authorization: `Bearer ${hash.split('=')[1]}` } });
    let output = '';
    for await (const chunk of stream.body!) {
      output += Buffer.from(chunk).toString('utf8');
      if (output.includes('"id":"shop/app"')) break;
    }
    page.child.kill('SIGINT');
    const err = 'Anyone with this address has your permissions. Ctrl-C stops the page.\n';
    expect(await page.ended).toMatchObject({ code: 130, err });
  });

  it('ends quietly when the reader closes the pipe, and with 130 at Ctrl-C', async () => {
    const { kubeconfig } = await apiServer((_, response, url) => {
      if (url.searchParams.has('watch')) return void response.writeHead(200).flushHeaders();
      const items = Array.from({ length: 3000 }, (_, index) => rollout(`app-${index}`));
      return json(
        response,
        url.pathname.endsWith('/rollouts') ? list(items) : url.pathname.endsWith('/app-1') ? items[1]! : list([]),
      );
    });
    const read = start(node, ['get'], kubeconfig);
    read.child.stdout.destroy();
    expect(await read.ended).toMatchObject({ code: 0, err: '' });

    const watching = start(node, ['get', 'app-1', '--watch'], kubeconfig);
    watching.child.stdout.on('data', () => watching.child.kill('SIGINT'));
    expect(await watching.ended).toMatchObject({ code: 130, err: '' });
  });
});
