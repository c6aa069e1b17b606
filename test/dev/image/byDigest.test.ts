/** The content of a release's OCI artifact. The first run builds kustomize. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { writeArtifact } from '../../../dev/image/byDigest.ts';
import { kustomizeBuild } from '../../../dev/local/install/kustomize.ts';
import { REPOSITORY } from '../../../dev/repository.ts';
import { bundle } from '../../../dev/scripts/release.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const IMAGE = `registry.example:5000/team/rollout-hooks@sha256:${'0123456789abcdef'.repeat(4)}`;
const BASE = 'https://git.example/team/rollout-hooks/blob/v1.0.0/';
const folder = temporaryFolder('artifact-');
const written = join(folder, 'written');

const filesOf = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();

beforeAll(() => writeArtifact(written, IMAGE, BASE));

it('has every file of manifests/', () => {
  expect(filesOf(written)).toEqual(filesOf(join(REPOSITORY, 'manifests')));
});

it('names no image but that of the release, by its digest', async () => {
  const changed = filesOf(written).filter(
    (file) => readFileSync(join(written, file), 'utf8') !== readFileSync(join(REPOSITORY, 'manifests', file), 'utf8'),
  );
  const alerts = 'components/monitoring/prometheus-rule.yaml';
  expect(changed).toEqual([
    'app/deployment.yaml',
    'components/audit/deployment.yaml',
    alerts,
    'components/release-copies/kustomization.yaml',
    'components/ui/deployment.yaml',
  ]);
  for (const file of changed.filter((each) => each !== alerts))
    expect(readFileSync(join(written, file), 'utf8').split(IMAGE)).toHaveLength(2);
});

it('has absolute links to runbooks', () => {
  const rules = readFileSync(join(written, 'components/monitoring/prometheus-rule.yaml'), 'utf8');
  const links = [...rules.matchAll(/runbook_url: (\S+)#/g)].map(([, link]) => link);
  expect(new Set(links)).toEqual(new Set([`${BASE}docs/runbooks.md`]));
});

describe('renders as the bundle of the release', () => {
  it.each(['.', 'overlays/cert-manager', 'overlays/with-metacontroller'])(
    '%s',
    async (path) => {
      const fromArtifact = await kustomizeBuild({ resources: [join(written, path)] });
      expect(parseAllDocuments(fromArtifact).map((document) => document.toJS())).toEqual(
        parseAllDocuments(await bundle(join('manifests', path), IMAGE)).map((document) => document.toJS()),
      );
    },
    300_000,
  );
});

it.each([
  ['without a digest', 'none', 'rollout-hooks:0.1.0', 'rollout-hooks:0.1.0 is not IMAGE@sha256:DIGEST'],
  ['into a folder that exists', 'written', IMAGE, 'written exists'],
])('is refused %s', (_, out, image, message) => {
  expect(() => writeArtifact(join(folder, out), image, BASE)).toThrow(message);
});
