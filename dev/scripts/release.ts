/** Steps of .github/workflows/release.yml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageByDigest, writeArtifact } from '../image/byDigest.ts';
import { imageSbom } from '../image/sbom.ts';
import { imageVex } from '../image/vex.ts';
import { isTarget } from '../local/binaries/nodeBinary.ts';
import { kustomizeBuild } from '../local/install/kustomize.ts';
import { REPOSITORY } from '../repository.ts';
import { buildCli } from './build-cli.ts';
import { buildExecutable, packExecutable } from './executable.ts';
import { archiveName, writePlugins } from './plugins.ts';

const usage = `Usage: npm run release -- check vX.Y.Z                  whether all files name that version; prints outputs for the workflow
       npm run release -- notes X.Y.Z                   its section of CHANGELOG.md
       npm run release -- sbom                          the npm packages in the image, as SPDX
       npm run release -- vex IMAGE@DIGEST              what scanners find in the image and what it means, as OpenVEX
       npm run release -- bundle FOLDER IMAGE@DIGEST    a kustomization of manifests/, rendered with that image
       npm run release -- artifact FOLDER IMAGE@DIGEST  writes manifests/ with that image into FOLDER, to push as an OCI artifact
       npm run release -- executable PLATFORM…          the command's archive in dist/ for linux-x64, win32-x64, …
       npm run release -- plugins OWNER/NAME FOLDER     checksums and plugin manifests (Flux, krew) of the archives in FOLDER
`;

/** The places that have a version. */
export interface Versions {
  package: string;
  lock: string;
  /** The tag of the image in manifests/app. */
  image: string;
  changelog: string;
}

export function readVersions(): Versions {
  const read = (file: string) => readFileSync(join(REPOSITORY, file), 'utf8');
  return {
    package: JSON.parse(read('package.json')).version,
    lock: JSON.parse(read('package-lock.json')).version,
    image: /image: rollout-hooks:(\S+)/.exec(read('manifests/app/deployment.yaml'))?.[1] ?? 'none',
    changelog: read('CHANGELOG.md'),
  };
}

/** Reasons why a tag can't be released. */
export function releaseProblems(tag: string, versions: Versions): string[] {
  if (!/^v\d+\.\d+\.\d+$/.test(tag)) return [`${tag} is not the tag of a release: expected vX.Y.Z`];
  const version = tag.slice(1);
  const differs = (file: string, found: string) => (found === version ? [] : [`${file} says ${found}, not ${version}`]);
  return [
    ...differs('package.json', versions.package),
    ...differs('package-lock.json', versions.lock),
    ...differs('manifests/app/deployment.yaml', versions.image),
    ...(notesOf(version, versions.changelog) ? [] : [`CHANGELOG.md has no section "## ${version} - YYYY-MM-DD"`]),
  ];
}

/** The text below the heading of a version, or nothing. */
export function notesOf(version: string, changelog: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const heading = new RegExp(`^${version.replaceAll('.', '\\.')} - \\d{4}-\\d\\d-\\d\\d\\n`);
  return (sections.find((section) => heading.test(section)) ?? '').replace(/^.*\n/, '').trim();
}

/** A kustomization of this repository as YAML, with the image by its digest. */
export async function bundle(folder: string, image: string): Promise<string> {
  const { name: newName, digest } = imageByDigest(image);
  return kustomizeBuild({ resources: [folder], images: [{ name: 'rollout-hooks', newName, digest }] });
}

/** Builds the command, and an archive in dist/ for each platform. */
async function executables(platforms: readonly string[]): Promise<void> {
  const targets = platforms.map((platform) => {
    if (!isTarget(platform)) throw new Error(`${platform} is not a platform with executables`);
    return platform;
  });
  const dist = join(REPOSITORY, 'dist');
  await buildCli(join(dist, 'cli'));
  for (const target of targets) {
    const folder = join(dist, `cli-${target}`);
    await buildExecutable(join(dist, 'cli'), folder, target);
    const archive = join(dist, archiveName(readVersions().package, target));
    packExecutable(folder, archive, target);
    process.stdout.write(`${archive}\n`);
  }
}

async function main([command, ...args]: string[]): Promise<void> {
  const [first, second] = args;
  if (command === 'check' && first) {
    const problems = releaseProblems(first, readVersions());
    if (problems.length > 0) throw new Error(problems.join('\n'));
    const { private: isPrivate } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
    process.stdout.write(`version=${first.slice(1)}\nnpm=${!isPrivate}\n`);
  } else if (command === 'notes' && first) {
    process.stdout.write(`${notesOf(first, readVersions().changelog)}\n`);
  } else if (command === 'sbom') {
    process.stdout.write(await imageSbom());
  } else if (command === 'vex' && first) {
    process.stdout.write(`${JSON.stringify(imageVex(first, new Date().toISOString()), undefined, 2)}\n`);
  } else if (command === 'bundle' && first && second) {
    process.stdout.write(await bundle(first, second));
  } else if (command === 'artifact' && first && second) {
    writeArtifact(first, second);
  } else if (command === 'executable' && args.length > 0) {
    await executables(args);
  } else if (command === 'plugins' && first && second) {
    writePlugins(second, readVersions().package, first);
  } else {
    throw new Error(usage);
  }
}

if (import.meta.main) {
  main(process.argv.slice(2)).catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
}
