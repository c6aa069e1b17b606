import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../dev/local/process/temporaryDirectory.ts';
import { REPOSITORY } from '../../../../dev/repository.ts';

const MODULE = join(REPOSITORY, 'dev/local/process/temporaryDirectory.ts');
const made: string[] = [];
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

/** Creates one in another process, which ends in this way. Resolves to its path. */
function pathAfter(end: string): string {
  const script = `const { temporaryDirectory } = await import(${JSON.stringify(MODULE)});
    const directory = temporaryDirectory('ends-');
    process.stdout.write(directory.path);
    ${end};`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  made.push(stdout);
  return stdout;
}

describe('a temporary directory', () => {
  it.each([
    ['ends', ''],
    ['exits', 'process.exit(130)'],
    ['fails', 'throw new Error()'],
  ])('is gone when its process %s', (_how, end) => {
    const path = pathAfter(end);
    expect(path).toContain('ends-');
    expect(existsSync(path)).toBe(false);
  });

  it('registers one listener for the end of the process, for any number of directories', () => {
    const make = () => temporaryDirectory('ends-').remove();
    make();
    const listeners = process.listenerCount('exit');
    for (let i = 0; i < 3; i++) make();
    expect(process.listenerCount('exit')).toBe(listeners);
  });

  it('stays where it is kept', () => {
    expect(existsSync(pathAfter('directory.keep()'))).toBe(true);
  });
});
