/** Steps of .github/workflows/release.yml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { imageByDigest, writeArtifact } from '../image/byDigest.ts';
import { imageSbom } from '../image/sbom.ts';
import { imageVex } from '../image/vex.ts';
import { isTarget } from '../local/binaries/nodeBinary.ts';
import { kustomizeBuild } from '../local/install/kustomize.ts';
import { program } from '../local/process/options.ts';
import { REPOSITORY } from '../repository.ts';
import { buildCli } from './build-cli.ts';
import { buildExecutable, packExecutable } from './executable.ts';
import { archiveName, writePlugins } from './plugins.ts';

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

/** Prints the output of the workflow's check. @throws if the tag can't be released */
function check(tag: string): void {
  const problems = releaseProblems(tag, readVersions());
  if (problems.length > 0) throw new Error(problems.join('\n'));
  process.stdout.write(`version=${tag.slice(1)}\n`);
}

const print = (text: string): void => void process.stdout.write(`${text.trimEnd()}\n`);

function commands(): Command {
  const release = program('npm run release --', 'The steps of .github/workflows/release.yml.');
  release
    .command('check <tag>')
    .description('whether all files name that version; prints the output for the workflow')
    .action(check);
  release
    .command('notes <version>')
    .description('its section of CHANGELOG.md')
    .action((version) => print(notesOf(version, readVersions().changelog)));
  release
    .command('sbom')
    .description('the npm packages in the image, as SPDX')
    .action(async () => print(await imageSbom()));
  release
    .command('vex <image@digest>')
    .description('what scanners find in the image and what it means, as OpenVEX')
    .action((image) => print(JSON.stringify(imageVex(image, new Date().toISOString()), undefined, 2)));
  release
    .command('bundle <folder> <image@digest>')
    .description('a kustomization of manifests/, rendered with that image')
    .action(async (folder, image) => print(await bundle(folder, image)));
  release
    .command('artifact <folder> <image@digest> <base>')
    .description(
      'writes manifests/ with that image, and that base of runbook_url, into the folder, to push as an OCI artifact',
    )
    .action(writeArtifact);
  release
    .command('executable <platform...>')
    .description("the command's archive in dist/ for linux-x64, win32-x64, …")
    .action(executables);
  release
    .command('plugins <owner/name> <folder>')
    .description('checksums and plugin manifests (Flux, krew) of the archives in the folder')
    .action((repository, folder) => writePlugins(folder, readVersions().package, repository));
  return release;
}

if (import.meta.main) {
  await commands()
    .parseAsync()
    .catch((error: Error) => {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    });
}
