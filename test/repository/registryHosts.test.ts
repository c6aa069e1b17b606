/**
 * No host of a package registry is in the repository: it is a setting of those who build and install images and
 * packages.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Concatenated, so that this file isn't found. */
const DOCKER_HUB = ['docker io', 'hub docker com'].map(hostOf);
const HOSTS = [
  ...DOCKER_HUB,
  ...[
    'ghcr io',
    'quay io',
    'gcr io',
    'pkg dev',
    'registry k8s io',
    'mcr microsoft com',
    'azurecr io',
    'dkr ecr',
    'public ecr aws',
    'registry gitlab com',
    'npm pkg github com',
    'maven pkg github com',
    'npmjs org',
    'npmjs com',
    'yarnpkg com',
    'jsr io',
    'proxy golang org',
    'pypi org',
  ].map(hostOf),
];
const HOST = new RegExp(`(?<![\\w-])(${HOSTS.map((host) => host.replaceAll('.', '\\.')).join('|')})(?![\\w-])`, 'i');

/** An image without a host is Docker Hub's, which has three more names. */
const KNOWS_DOCKER_HUB = ['server/registry/image.ts', 'test/server/registry/'];

it('no file names a registry', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
    .toString()
    .trim()
    .split('\n')
    .filter((file) => existsSync(join(ROOT, file)));
  const found = files.flatMap((file) => {
    const allowed = KNOWS_DOCKER_HUB.some((known) => file.startsWith(known));
    return readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => {
        const [host] = HOST.exec(line) ?? [];
        return host && !(allowed && DOCKER_HUB.includes(host)) ? [`${file}:${i + 1}: ${host}`] : [];
      });
  });
  expect(found).toEqual([]);
});

function hostOf(parts: string): string {
  return parts.replaceAll(' ', '.');
}
