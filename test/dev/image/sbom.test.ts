import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { imageSbom } from '../../../dev/image/sbom.ts';
import { REPOSITORY } from '../../../dev/repository.ts';

interface SpdxPackage {
  name: string;
  versionInfo: string;
  licenseDeclared?: string;
  externalRefs: { referenceType: string; referenceLocator: string }[];
  checksums?: object[];
}

const lock: Record<string, { version: string; dev?: boolean }> = JSON.parse(
  readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8'),
).packages;
const installed = Object.entries(lock).filter(([path, { dev }]) => path !== '' && !dev);

it('the SBOM names every package of the image, no other, and of each its version, purl, licence and checksum', async () => {
  const { spdxVersion, packages } = JSON.parse(await imageSbom()) as { spdxVersion: string; packages: SpdxPackage[] };
  expect(spdxVersion).toMatch(/^SPDX-2\./);
  const [self, ...others] = packages;
  expect(self!.name).toBe('rollout-hooks');
  const wanted = installed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`);
  expect(others.map(({ name, versionInfo }) => `${name}@${versionInfo}`).sort()).toEqual([...new Set(wanted)].sort());
  for (const { name, licenseDeclared, externalRefs, checksums } of others) {
    expect(licenseDeclared, name).toMatch(/^[A-Z(]/);
    expect(checksums, name).toHaveLength(1);
    expect(externalRefs[0]!.referenceLocator, name).toMatch(/^pkg:npm\//);
  }
});
