import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { madeOnce } from '../../../../dev/local/binaries/cache.ts';
import { temporaryFolder } from '../../../support/temporaryFolder.ts';

it('a cache that can’t be created is reported with the variable that moves it', async () => {
  const file = join(temporaryFolder('cache-'), 'file');
  writeFileSync(file, '');
  const made = madeOnce(join(file, 'etcd-1'), 'etcd', () => {});
  await expect(made).rejects.toThrow(`${file}/etcd-1 can't be created (ENOTDIR): set XDG_CACHE_HOME to a folder that`);
});
