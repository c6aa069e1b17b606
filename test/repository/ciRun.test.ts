/** `.ci/run` with an npm that tells what it was given. The checkout, HOME and all are below /tmp, where they are easiest to lose. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { REPOSITORY } from '../../dev/repository.ts';

const NPM = `#!/bin/sh
if [ "$1" = config ]; then echo "$HOME/.npm"; exit; fi
cat <<END
called: npm $*
process: $$
folder: $(pwd)
CI: $CI
HOME: $HOME
home: $(ls -A "$HOME" | sort | tr '\\n' ' ')
settings: $(cat "$HOME/.npmrc")
built: $(cat "$HOME/.cache/rollout-hooks/built")
mark: $(ls "$MARK" 2>/dev/null)
END
exit 3
`;

const TMP = realpathSync('/tmp');
const folder = mkdtempSync(join(TMP, 'ci-run-'));
const mark = join(mkdtempSync(join(TMP, 'ci-mark-')), 'mark');
afterAll(() => {
  for (const path of [folder, join(mark, '..')]) rmSync(path, { recursive: true });
});
const home = join(folder, 'home');
const checkout = join(folder, 'checkout');
const programs = join(checkout, 'programs');
for (const path of [join(home, '.cache/rollout-hooks'), join(home, '.pki')]) mkdirSync(path, { recursive: true });
cpSync(join(REPOSITORY, '.ci'), join(checkout, '.ci'), { recursive: true });
writeFileSync(join(home, '.npmrc'), 'audit=false\n');
writeFileSync(join(home, '.cache/rollout-hooks/built'), 'etcd\n');
writeFileSync(mark, '');
const program = (path: string, text: string) => {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
};
program(join(programs, 'npm'), NPM);
const noRights = join(checkout, 'no-rights');
program(join(noRights, 'unshare'), '#!/bin/sh\nexit 1\n');

const mayNotMount = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status !== 0;

function run(...path: string[]) {
  const env = { PATH: [...path, programs, process.env.PATH].join(':'), HOME: home, MARK: mark };
  const { pid, status, stdout, stderr } = spawnSync(join(checkout, '.ci/run'), { env, encoding: 'utf8' });
  const told = Object.fromEntries(stdout.split('\n').map((line) => line.split(': ') as [string, string]));
  return { pid, status, told, stderr };
}

it.skipIf(mayNotMount)(
  'finds an empty /tmp and an empty HOME, but for what was built, settings and the checkout',
  () => {
    const { status, told, stderr } = run();
    expect({ status, told }, stderr).toMatchObject({
      status: 3,
      told: {
        called: 'npm test',
        folder: checkout,
        CI: 'true',
        home: '.cache .config .npmrc ',
        settings: 'audit=false',
      },
    });
    expect(told.built).toBe('etcd');
    expect(told.HOME).not.toBe(home);
    expect(told.mark).toBe('');
  },
);

it.skipIf(mayNotMount).each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  [undefined, 3],
] as const)('leaves nothing running (%s)', async (signal, code) => {
  const pids = join(home, '.cache/rollout-hooks/pids');
  rmSync(pids, { force: true });
  const waits = signal ? 'sleep 300' : 'sleep 1';
  // As the processes of a control plane: in a session of their own.
  program(
    join(checkout, 'leaves/npm'),
    `#!/bin/sh
if [ "$1" = config ]; then echo "$HOME/.npm"; exit; fi
setsid sleep 301 &
echo $$ $! > "$HOME/.cache/rollout-hooks/pids"
${waits}
exit 3
`,
  );
  const env = { PATH: [join(checkout, 'leaves'), process.env.PATH].join(':'), HOME: home };
  const child = spawn(join(checkout, '.ci/run'), { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await vi.waitUntil(() => existsSync(pids) && readFileSync(pids, 'utf8').endsWith('\n'), { timeout: 20_000 });
  if (signal) child.kill(signal);
  expect((await ended)[0]).toBe(code);
  const isRunning = (pid: string) => spawnSync('kill', ['-0', pid]).status === 0;
  await vi.waitUntil(() => !readFileSync(pids, 'utf8').trim().split(' ').some(isRunning), { timeout: 10_000 });
});

it('runs the command as it is where it may not mount', () => {
  const { pid, status, told, stderr } = run(noRights);
  expect({ status, told }, stderr).toMatchObject({
    status: 3,
    told: { called: 'npm test', process: `${pid}`, folder: checkout, CI: 'true', HOME: home, mark },
  });
});
