/**
 * The archives of a release, and the manifests by which `flux plugin install` and krew install the command from them.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Target } from '../local/binaries/nodeBinary.ts';

/** Platforms, in the order of Flux's catalogue. */
export const PLATFORMS: Record<Target, { os: string; arch: string; extension: string }> = {
  'darwin-arm64': { os: 'darwin', arch: 'arm64', extension: 'tar.gz' },
  'linux-x64': { os: 'linux', arch: 'amd64', extension: 'tar.gz' },
  'linux-arm64': { os: 'linux', arch: 'arm64', extension: 'tar.gz' },
  'win32-x64': { os: 'windows', arch: 'amd64', extension: 'zip' },
};

const NAME = 'rollouts';
/** The program in each archive; on Windows with `.exe`. */
const PROGRAM = 'flux-rollouts';
const SUMMARY = 'Explain, approve and freeze deployments by Flux';

interface Archive {
  name: string;
  os: string;
  arch: string;
  url: string;
  sha256: string;
}

/** Names as Flux's catalogue expects them: its workflow updates a plugin by these names and the file of checksums. */
export function archiveName(version: string, target: Target): string {
  const { os, arch, extension } = PLATFORMS[target];
  return `${PROGRAM}_${version}_${os}_${arch}.${extension}`;
}

/**
 * Reads the archives of a release from `folder`, and writes its checksums and manifests beside them. `repository`:
 * `<owner>/<name>` on GitHub.
 */
export function writePlugins(folder: string, version: string, repository: string): void {
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) throw new Error(`${repository} is not OWNER/NAME of a repository`);
  const homepage = `https://github.com/${repository}`;
  const archives = (Object.keys(PLATFORMS) as Target[]).map((target): Archive => {
    const name = archiveName(version, target);
    const bytes = readFileSync(join(folder, name));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const { os, arch } = PLATFORMS[target];
    return { name, os, arch, url: `${homepage}/releases/download/v${version}/${name}`, sha256 };
  });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  // In the form of `sha256sum`.
  const checksums = archives.map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  write(`${PROGRAM}_${version}_checksums.txt`, checksums.join(''));
  write('plugin-flux.yaml', stringify(fluxPlugin(version, homepage, archives), { lineWidth: 0 }));
  write('plugin-krew.yaml', stringify(krewPlugin(version, homepage, archives), { lineWidth: 0 }));
}

/** `plugins/rollouts.yaml` of fluxcd/plugins. */
function fluxPlugin(version: string, homepage: string, archives: readonly Archive[]): object {
  const platforms = archives.map(({ os, arch, url, sha256 }) => ({ os, arch, url, checksum: `sha256:${sha256}` }));
  return {
    apiVersion: 'cli.fluxcd.io/v1beta1',
    kind: 'Plugin',
    name: NAME,
    description: SUMMARY,
    homepage,
    source: homepage,
    bin: PROGRAM,
    versions: [{ version, platforms }],
  };
}

/** `plugins/rollouts.yaml` of kubernetes-sigs/krew-index. */
function krewPlugin(version: string, homepage: string, archives: readonly Archive[]): object {
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: NAME },
    spec: {
      version: `v${version}`,
      homepage,
      shortDescription: SUMMARY,
      description:
        'Shows what rollout-hooks deploys through Flux: what runs, what waits and why.\n' +
        'Deploys, pins, approves and rolls back versions, and opens and closes Gates,\n' +
        'with exactly the permissions of your kubeconfig.\n',
      caveats:
        'Needs rollout-hooks in the cluster.\n' +
        'kubectl completes names once kubectl_complete-rollouts is on the PATH too:\n' +
        '  ln -s kubectl-rollouts ~/.krew/bin/kubectl_complete-rollouts\n',
      platforms: archives.map(({ os, arch, url, sha256 }) => ({
        selector: { matchLabels: { os, arch } },
        uri: url,
        sha256,
        bin: os === 'windows' ? `${PROGRAM}.exe` : PROGRAM,
      })),
    },
  };
}
