/** Plugin manifests for Flux's catalogue and krew's index. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Target } from '../../../dev/local/binaries/nodeBinary.ts';
import { packExecutable } from '../../../dev/scripts/executable.ts';
import { archiveName, PLATFORMS, writePlugins } from '../../../dev/scripts/plugins.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const folder = temporaryFolder('plugins-');

const TARGETS = Object.keys(PLATFORMS) as Target[];
const inside = (name: string) => readFileSync(join(folder, name), 'utf8');

for (const name of ['flux-rollouts', 'flux-rollouts.exe', 'LICENSE', 'THIRD_PARTY_NOTICES.txt', 'kubectl-rollouts']) {
  writeFileSync(join(folder, name), `the ${name}`, { mode: 0o755 });
}
for (const target of TARGETS) packExecutable(folder, join(folder, archiveName('1.2.0', target)), target);
writePlugins(folder, '1.2.0', 'team/rollout-hooks');

const flux = parse(inside('plugin-flux.yaml'));
const krew = parse(inside('plugin-krew.yaml'));

it('names archives as the workflow of Flux’s catalogue expects them', () => {
  expect(TARGETS.map((target) => archiveName('1.2.0', target))).toEqual([
    'flux-rollouts_1.2.0_darwin_arm64.tar.gz',
    'flux-rollouts_1.2.0_linux_amd64.tar.gz',
    'flux-rollouts_1.2.0_linux_arm64.tar.gz',
    'flux-rollouts_1.2.0_windows_amd64.zip',
  ]);
});

it('has checksums that sha256sum accepts', () => {
  const args = ['--check', '--strict', 'flux-rollouts_1.2.0_checksums.txt'];
  expect(execFileSync('sha256sum', args, { cwd: folder, encoding: 'utf8' }).match(/: OK$/gm)).toHaveLength(4);
});

describe.each(TARGETS)('the archive for %s', (target) => {
  const { os, arch } = PLATFORMS[target];
  const name = archiveName('1.2.0', target);
  const program = os === 'windows' ? 'flux-rollouts.exe' : 'flux-rollouts';

  it('has the program and its licenses, and no link, which krew refuses and Flux skips', () => {
    const path = join(folder, name);
    const [command, ...options] = os === 'windows' ? ['zipinfo'] : ['tar', '-tvf'];
    const listed = execFileSync(command!, [...options, path], { encoding: 'utf8' });
    const files = listed.split('\n').flatMap((line) => /^(\S).* (\S+)$/.exec(line)?.slice(1, 3).join(' ') ?? []);
    expect(files.filter((file) => /^[-lhd] /.test(file))).toEqual(
      [program, 'LICENSE', 'THIRD_PARTY_NOTICES.txt'].map((file) => `- ${file}`),
    );
  });

  it('is in both manifests with its checksum', () => {
    const sha256 = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    const url = `https://github.com/team/rollout-hooks/releases/download/v1.2.0/${name}`;
    expect(flux.versions[0].platforms).toContainEqual({ os, arch, url, checksum: `sha256:${sha256}` });
    const selector = { matchLabels: { os, arch } };
    expect(krew.spec.platforms).toContainEqual({ selector, uri: url, sha256, bin: program });
  });
});

it('is a plugin of Flux by the name under which it completes', () => {
  const { versions, ...plugin } = flux;
  expect(plugin).toEqual({
    apiVersion: 'cli.fluxcd.io/v1beta1',
    kind: 'Plugin',
    name: 'rollouts',
    description: expect.stringMatching(/^.{1,60}$/),
    homepage: 'https://github.com/team/rollout-hooks',
    source: 'https://github.com/team/rollout-hooks',
    bin: 'flux-rollouts',
  });
  expect(versions).toEqual([{ version: '1.2.0', platforms: expect.any(Array) }]);
  expect(versions[0].platforms).toHaveLength(TARGETS.length);
});

it('is a plugin of krew', () => {
  const { platforms, ...spec } = krew.spec;
  expect({ ...krew, spec: {} }).toEqual({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'rollouts' },
    spec: {},
  });
  expect(spec).toEqual({
    version: 'v1.2.0',
    homepage: 'https://github.com/team/rollout-hooks',
    // One line that fits into `kubectl krew search`.
    shortDescription: expect.stringMatching(/^.{1,50}$/),
    description: expect.any(String),
    caveats: expect.stringContaining('kubectl_complete-rollouts'),
  });
  expect(platforms).toHaveLength(TARGETS.length);
});

it.each([
  ['a repository that is none', '1.2.0', 'rollout-hooks', 'rollout-hooks is not OWNER/NAME'],
  ['a missing archive', '1.3.0', 'team/rollout-hooks', 'flux-rollouts_1.3.0_darwin_arm64.tar.gz'],
])('refuses %s', (_, version, repository, message) => {
  expect(() => writePlugins(folder, version, repository)).toThrow(message);
});
