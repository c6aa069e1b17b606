import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { REPOSITORY } from '../../../dev/repository.ts';
import { bundle, notesOf, readVersions, releaseProblems, type Versions } from '../../../dev/scripts/release.ts';

const changelog = `# Changelog

## Unreleased

### Added
- something new.

## 1.2.0 - 2026-03-01

### Fixed
- what was broken.

## 1.1.0 - 2026-02-01
- older.
`;

describe('notes', () => {
  it.each([
    ['1.2.0', '### Fixed\n- what was broken.'],
    ['1.1.0', '- older.'],
    ['1.2', ''],
    ['2.1.0', ''],
    ['Unreleased', ''],
  ])('of %s', (version, notes) => {
    expect(notesOf(version, changelog)).toBe(notes);
  });
});

describe('a tag', () => {
  const versions: Versions = { package: '1.2.0', lock: '1.2.0', image: '1.2.0', changelog };

  it('may be released if every file has its version', () => {
    expect(releaseProblems('v1.2.0', versions)).toEqual([]);
  });

  it.each<[string, string, Partial<Versions>, string]>([
    ['that is no version', 'v1.2', {}, 'v1.2 is not the tag of a release: expected vX.Y.Z'],
    ['of another package', 'v1.2.0', { package: '1.1.0' }, 'package.json says 1.1.0, not 1.2.0'],
    ['of another lock file', 'v1.2.0', { lock: '1.1.0' }, 'package-lock.json says 1.1.0, not 1.2.0'],
    ['of another image', 'v1.2.0', { image: '1.1.0' }, 'manifests/app/deployment.yaml says 1.1.0, not 1.2.0'],
    ['without notes', 'v1.2.0', { changelog: '' }, 'CHANGELOG.md has no section "## 1.2.0 - YYYY-MM-DD"'],
  ])('%s may not', (_, tag, changed, problem) => {
    expect(releaseProblems(tag, { ...versions, ...changed })).toEqual([problem]);
  });

  it('finds one version in all files of this repository', () => {
    const { package: version, lock, image } = readVersions();
    expect([lock, image]).toEqual([version, version]);
  });
});

// The first one on a machine builds kustomize.
describe('a bundle', () => {
  const IMAGE = `registry.example:5000/team/rollout-hooks@sha256:${'0123456789abcdef'.repeat(4)}`;
  const overlays = readdirSync(join(REPOSITORY, 'manifests/overlays')).map((name) => `manifests/overlays/${name}`);

  it.each(['manifests', ...overlays])('of %s', async (folder) => {
    const objects = parseAllDocuments(await bundle(folder, IMAGE)).map((document) => document.toJS());
    const kinds = objects.map(({ kind }) => kind);
    const deployment = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'rollout-hooks');
    expect(deployment.spec.template.spec.containers.map(({ image }: any) => image)).toEqual([IMAGE]);
    expect(kinds).toEqual(
      expect.arrayContaining(['CompositeController', 'MutatingWebhookConfiguration', 'ValidatingAdmissionPolicy']),
    );
    // What others need comes before them. kustomize sorts a ResourceQuota, which needs only a Namespace, before kinds.
    const needed = ['Namespace', 'ResourceQuota', 'CustomResourceDefinition'];
    const first = kinds.findIndex((kind) => !needed.includes(kind));
    expect(kinds.slice(first)).not.toContain('Namespace');
    expect(kinds.slice(first)).not.toContain('CustomResourceDefinition');
  });

  it('names its image by digest, or is none', async () => {
    await expect(bundle('manifests', 'rollout-hooks:1.2.0')).rejects.toThrow('is not IMAGE@sha256:DIGEST');
  });
});
