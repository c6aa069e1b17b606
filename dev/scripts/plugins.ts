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
const TARGETS = Object.keys(PLATFORMS) as Target[];

const NAME = 'rollouts';
/** The program in each archive; on Windows with `.exe`. */
const PROGRAM = 'flux-rollouts';

const SUMMARY = 'Explain, approve and freeze deployments by Flux';

interface Release {
  version: string;
  /** `<owner>/<name>` on GitHub. */
  repository: string;
  /** SHA-256 by the archive's name. */
  checksums: Readonly<Record<string, string>>;
}

/** Names as Flux's catalogue expects them: its workflow updates a plugin by these names and the file of checksums. */
export function archiveName(version: string, target: Target): string {
  const { os, arch, extension } = PLATFORMS[target];
  return `${PROGRAM}_${version}_${os}_${arch}.${extension}`;
}

/** `plugins/rollouts.yaml` of fluxcd/plugins. */
function fluxPlugin(release: Release): object {
  const { version, repository } = release;
  return {
    apiVersion: 'cli.fluxcd.io/v1beta1',
    kind: 'Plugin',
    name: NAME,
    description: SUMMARY,
    homepage: homepageOf(repository),
    source: homepageOf(repository),
    bin: PROGRAM,
    versions: [
      {
        version,
        platforms: TARGETS.map((target) => {
          const { os, arch } = PLATFORMS[target];
          return { os, arch, url: urlOf(release, target), checksum: `sha256:${checksumOf(release, target)}` };
        }),
      },
    ],
  };
}

/** `plugins/rollouts.yaml` of kubernetes-sigs/krew-index. */
function krewPlugin(release: Release): object {
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: NAME },
    spec: {
      version: `v${release.version}`,
      homepage: homepageOf(release.repository),
      shortDescription: SUMMARY,
      description:
        'Shows what rollout-hooks deploys through Flux: what runs, what waits and why.\n' +
        'Deploys, pins, approves and rolls back versions, and opens and closes Gates,\n' +
        'with exactly the permissions of your kubeconfig.\n',
      caveats:
        'Needs rollout-hooks in the cluster.\n' +
        'kubectl completes names once kubectl_complete-rollouts is on the PATH too:\n' +
        '  ln -s kubectl-rollouts ~/.krew/bin/kubectl_complete-rollouts\n',
      platforms: TARGETS.map((target) => {
        const { os, arch } = PLATFORMS[target];
        return {
          selector: { matchLabels: { os, arch } },
          uri: urlOf(release, target),
          sha256: checksumOf(release, target),
          bin: os === 'windows' ? `${PROGRAM}.exe` : PROGRAM,
        };
      }),
    },
  };
}

/** The checksums in the form of `sha256sum`. */
function checksumsText({ version, checksums }: Release): string {
  return TARGETS.map((target) => archiveName(version, target))
    .map((name) => `${checksums[name]}  ${name}\n`)
    .join('');
}

/** Reads the archives of a release from `folder`, and writes its checksums and manifests beside them. */
export function writePlugins(folder: string, version: string, repository: string): void {
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) throw new Error(`${repository} is not OWNER/NAME of a repository`);
  const hash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  const names = TARGETS.map((target) => archiveName(version, target));
  const checksums = Object.fromEntries(names.map((name) => [name, hash(name)]));
  const release: Release = { version, repository, checksums };
  writeFileSync(join(folder, `${PROGRAM}_${version}_checksums.txt`), checksumsText(release));
  writeFileSync(join(folder, 'plugin-flux.yaml'), stringify(fluxPlugin(release), { lineWidth: 0 }));
  writeFileSync(join(folder, 'plugin-krew.yaml'), stringify(krewPlugin(release), { lineWidth: 0 }));
}

function homepageOf(repository: string): string {
  return `https://github.com/${repository}`;
}

function urlOf({ version, repository }: Release, target: Target): string {
  return `${homepageOf(repository)}/releases/download/v${version}/${archiveName(version, target)}`;
}

function checksumOf({ version, checksums }: Release, target: Target): string {
  const name = archiveName(version, target);
  const checksum = checksums[name];
  if (!checksum) throw new Error(`no checksum of ${name}`);
  return checksum;
}
