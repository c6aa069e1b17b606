/** The programs of dev/: each begins with how it is started. `--help` and a wrong option are answered at once, and start nothing. */
import { execFile } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { REPOSITORY } from '../../dev/repository.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

// Node starts for each, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 });

const PROGRAMS = globSync('dev/**/*.ts', { cwd: REPOSITORY })
  .filter((file) => /^\/\*\* `(npm run|node) /.test(readFileSync(join(REPOSITORY, file), 'utf8')))
  .sort();

/** Clusters go into the temporary folder; a program that starts one is ended. */
function run(program: string, ...args: string[]) {
  const TMPDIR = temporaryFolder('program-');
  return new Promise<{ code: unknown; stdout: string; stderr: string; left: string[] }>((resolve) => {
    const options = { cwd: REPOSITORY, env: { ...process.env, TMPDIR }, timeout: 60_000 };
    const child = execFile(process.execPath, [program, ...args], options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr, left: readdirSync(TMPDIR) }),
    );
  });
}

it('are all that package.json starts, scripts aside', () => {
  const started = readFileSync(join(REPOSITORY, 'package.json'), 'utf8').match(/dev\/(?!scripts)[\w/]+\.ts/g) ?? [];
  expect(started.length).toBeGreaterThan(5);
  expect(started.filter((file) => !PROGRAMS.includes(file))).toEqual([]);
});

it.each(PROGRAMS)('%s --help', async (program) => {
  const { code, stdout, stderr, left } = await run(program, '--help');
  expect({ code, stderr, left }).toEqual({ code: 0, stderr: '', left: [] });
  // Usage, what it does, and its options.
  expect(stdout).toMatch(/^Usage: (npm run|node) .*\n\n[A-Z][\s\S]*\n {2}--help +this text\n/);
});

it.each(PROGRAMS)('%s refuses an option that it does not know', async (program) => {
  const { code, stdout, stderr, left } = await run(program, '--wat');
  expect({ code, stdout, left }).toEqual({ code: 2, stdout: '', left: [] });
  expect(stderr).toMatch(/^Unknown option '--wat'\.\nUsage: (npm run|node) .*\n$/);
});
