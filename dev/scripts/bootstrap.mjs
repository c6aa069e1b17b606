#!/usr/bin/env node
/**
 * Makes a fresh clone ready: installs the locked dependencies, among them Node 24, when they are missing or have
 * changed. Runs on the machine's own Node (20 or newer) and uses nothing that is not built in.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const stamp = join(root, 'node_modules', '.rollout-hooks');
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) process.exit(0);

process.stderr.write('installing dependencies (once per change of package-lock.json) …\n');
// Not `npm ci`: it refuses a lock file that was written where the registry lacks another platform's optional packages.
const npm = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], {
  cwd: root,
  stdio: ['ignore', 'ignore', 'inherit'],
  shell: process.platform === 'win32',
});
if (npm.error || npm.status !== 0) {
  process.stderr.write(
    `npm install failed${npm.error ? ` (${npm.error.message})` : ''}: run it in ${root} to see why\n`,
  );
  process.exit(1);
}
writeFileSync(stamp, wanted);
