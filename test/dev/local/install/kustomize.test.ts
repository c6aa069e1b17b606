import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { provideGoBinary } from '../../../../dev/local/binaries/goBinary.ts';
import { kustomizeBuild } from '../../../../dev/local/install/kustomize.ts';
import { REPOSITORY } from '../../../../dev/repository.ts';

const folder = mkdtempSync(join(tmpdir(), 'no-go-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `
  const { kustomizeBuild } = await import('${join(REPOSITORY, 'dev/local/install/kustomize.ts')}');
  try { process.stdout.write(await kustomizeBuild({ resources: ['manifests/rbac'] })); }
  catch ({ message }) { process.stdout.write(message); }
`;

/** On a machine without Go, where nothing was built before. */
const built = () =>
  execFileSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    encoding: 'utf8',
    env: { PATH: join(folder, 'bin'), XDG_CACHE_HOME: join(folder, 'cache'), TMPDIR: folder },
  });

// The first one on a machine builds kustomize and kubectl.
it('kubectl builds where Go is missing; without both, a sentence says what to install', {
  timeout: 600_000,
}, async () => {
  expect(built()).toMatch(/^kustomize cannot be found, and neither can Go/);
  mkdirSync(join(folder, 'bin'));
  symlinkSync(await provideGoBinary('kubectl', '.'), join(folder, 'bin/kubectl'));
  expect(built()).toBe(await kustomizeBuild({ resources: ['manifests/rbac'] }));
});
