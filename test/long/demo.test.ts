/** `npm run demo -- --flux`: the output of README.md on the real controllers of Flux, from a real registry. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../../dev/repository.ts';

// The first one on a machine builds the controllers.
it('shows every step', { timeout: 1_500_000 }, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(REPOSITORY, 'dev/local/demo.ts'), '--flux'], {
    encoding: 'utf8',
  });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  for (const seen of [
    'Flux has applied 1.0.0',
    'Flux has applied 1.1.0',
    '1.1.0 stays',
    'Every step had the expected result.',
  ])
    expect(stdout).toContain(seen);
});
