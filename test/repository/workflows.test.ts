/** GitHub's files: workflows with few rights and pinned actions; updates for every ecosystem. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { PLATFORMS } from '../../dev/scripts/plugins.ts';

const ROOT = join(import.meta.dirname, '../..');
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString()
  .trim()
  .split('\n');
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

function read(file: string): any {
  const document = parseDocument(textOf(file), { strict: true, uniqueKeys: true });
  expect(document.errors, file).toEqual([]);
  return document.toJS();
}

it.each(tracked.filter((file) => /^\.github\/.*\.ya?ml$/.test(file)))('%s is YAML', (file) => {
  expect(read(file)).toBeTypeOf('object');
});

const WORKFLOWS = readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const jobsOf = (file: string): [string, any][] => Object.entries(read(file).jobs);
const stepsOf = (file: string): any[] => jobsOf(file).flatMap(([, { steps = [] }]) => steps);

describe.each(WORKFLOWS)('%s', (file) => {
  it('runs actions of others at a commit, with the version in a comment', () => {
    const uses = [...textOf(file).matchAll(/uses: (.+)$/gm)].map(([, action]) => action!);
    const others = uses.filter((action) => !action.startsWith('./'));
    expect(others.length).toBeGreaterThan(0);
    for (const action of others) expect(action).toMatch(/^[\w.-]+(\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('runs each action at one commit', () => {
    const commits = WORKFLOWS.flatMap((each) => [...textOf(each).matchAll(/uses: ([\w./-]+)@(.+)$/gm)]);
    for (const [, action] of textOf(file).matchAll(/uses: ([\w./-]+)@/g)) {
      expect(new Set(commits.filter(([, name]) => name === action).map(([, , commit]) => commit)).size, action).toBe(1);
    }
  });

  it('has only the rights that a job declares', () => {
    expect(read(file).permissions).toEqual({});
    for (const [job, { permissions }] of jobsOf(file)) expect(permissions, job).toBeTypeOf('object');
  });

  it('keeps no token in the clone, and puts nothing into a script but by the environment', () => {
    for (const step of stepsOf(file)) {
      if (step.uses?.startsWith('actions/checkout@')) expect(step.with).toEqual({ 'persist-credentials': false });
      if (step.run) expect(step.run).not.toContain('${{');
    }
  });

  it('ends at some time', () => {
    for (const [job, { uses, 'timeout-minutes': minutes }] of jobsOf(file)) {
      if (!uses) expect(minutes, job).toBeLessThanOrEqual(60);
    }
  });
});

it('writes only where something is published', () => {
  const writers = WORKFLOWS.flatMap((file) =>
    jobsOf(file).flatMap(([job, { permissions }]) =>
      Object.entries(permissions).flatMap(([what, may]) => (may === 'read' ? [] : [`${job}: ${what} ${may}`])),
    ),
  );
  expect(writers).toEqual([
    'codeql: security-events write',
    'image: id-token write',
    'image: attestations write',
    'manifests: id-token write',
    'release: contents write',
    'release: id-token write',
    'release: attestations write',
    'executable: contents write',
    'executable: id-token write',
    'executable: attestations write',
    'windows: contents write',
    'publish: contents write',
    'publish: id-token write',
    'publish: attestations write',
    'scorecard: security-events write',
    'scorecard: id-token write',
  ]);
});

it('a release is tested as every change is', () => {
  const { test, image } = read('.github/workflows/release.yml').jobs;
  expect(test.uses).toBe('./.github/workflows/ci.yml');
  expect(image.needs).toContain('test');
  const { strategy } = read('.github/workflows/ci.yml').jobs.test;
  expect(stepsOf('.github/workflows/ci.yml').map(({ run }) => run)).toContain('$COMMAND');
  for (const command of ['.ci/run', 'npm run test:long']) expect(strategy.matrix.command).toContain(`"${command}"`);
});

it('a release has an executable of each platform, and is published once one of Windows has run', () => {
  const { executable, windows, publish } = read('.github/workflows/release.yml').jobs;
  const made: { own: string; other?: string }[] = executable.strategy.matrix.include;
  expect(made.flatMap(({ own, other }) => (other ? [own, other] : [own])).toSorted()).toEqual(
    Object.keys(PLATFORMS).toSorted(),
  );
  expect([windows.needs, publish.needs]).toEqual(['executable', ['executable', 'windows']]);
});

it('CodeQL reads the language of the repository and its workflows', () => {
  expect(read('.github/workflows/codeql.yml').jobs.codeql.strategy.matrix.language).toEqual([
    'javascript-typescript',
    'actions',
  ]);
});

it('Dependabot reads every file that pins a dependency', () => {
  const updates: { 'package-ecosystem': string; directory?: string; directories?: string[] }[] =
    read('.github/dependabot.yml').updates;
  const watches = (ecosystem: string, folder: string) =>
    updates
      .filter((update) => update['package-ecosystem'] === ecosystem)
      .flatMap(({ directory, directories = [] }) => [...directories, ...(directory ? [directory] : [])])
      .some((pattern) => matchesGlob(folder, pattern));
  const found = tracked.flatMap((file) => {
    const folder = join('/', dirname(file));
    if (file.endsWith('package-lock.json')) return [['npm', folder]];
    if (file.endsWith('go.mod')) return [['gomod', folder]];
    if (/(^|\/)Dockerfile$/.test(file)) return [['docker', folder]];
    if (file.startsWith('.github/workflows/')) return [['github-actions', '/']];
    return [];
  }) as [string, string][];
  const watched = new Set(updates.map((update) => update['package-ecosystem']));
  expect(new Set(found.map(([ecosystem]) => ecosystem))).toEqual(watched);
  expect(found.filter(([ecosystem, folder]) => !watches(ecosystem, folder))).toEqual([]);
});
