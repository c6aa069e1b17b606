/** The OCI artifact of a release: pushed to a real registry, pulled, and rendered as Flux does. The first run builds registry and kustomize. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { writeArtifact } from '../../../dev/image/byDigest.ts';
import { kustomizeBuild } from '../../../dev/local/install/kustomize.ts';
import { pushArtifact } from '../../../dev/local/registry/artifact.ts';
import { type RealRegistry, startRealRegistry } from '../../../dev/local/registry/realRegistry.ts';
import { REPOSITORY } from '../../../dev/repository.ts';
import { bundle } from '../../../dev/scripts/release.ts';

const IMAGE = `registry.example:5000/team/rollout-hooks@sha256:${'0123456789abcdef'.repeat(4)}`;
const NAME = 'team/rollout-hooks-manifests';
const folder = mkdtempSync(join(tmpdir(), 'artifact-'));
const pulled = join(folder, 'pulled');
let registry: RealRegistry;

const filesOf = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();

beforeAll(async () => {
  registry = await startRealRegistry();
  const written = join(folder, 'written');
  writeArtifact(written, IMAGE);
  const files = filesOf(written).map((file) => [file, readFileSync(join(written, file), 'utf8')]);
  await pushArtifact(registry, NAME, '0.1.0', Object.fromEntries(files));
  const { text } = (await registry.pull(NAME, '0.1.0'))!;
  const layer = await registry.pullBytes(NAME, JSON.parse(text).layers[0].digest);
  mkdirSync(pulled);
  execFileSync('tar', ['-xz', '-C', pulled], { input: layer });
}, 600_000);
afterAll(async () => {
  await registry?.stop();
  rmSync(folder, { recursive: true });
});

it('has every file of manifests/', () => {
  expect(filesOf(pulled)).toEqual(filesOf(join(REPOSITORY, 'manifests')));
});

it('names no image but that of the release, by its digest', async () => {
  const changed = filesOf(pulled).filter(
    (file) => readFileSync(join(pulled, file), 'utf8') !== readFileSync(join(REPOSITORY, 'manifests', file), 'utf8'),
  );
  expect(changed).toEqual([
    'app/deployment.yaml',
    'components/audit/deployment.yaml',
    'components/release-copies/kustomization.yaml',
    'components/ui/deployment.yaml',
  ]);
  for (const file of changed) expect(readFileSync(join(pulled, file), 'utf8').split(IMAGE)).toHaveLength(2);
});

describe('renders as the bundle of the release', () => {
  it.each(['.', 'overlays/cert-manager', 'overlays/with-metacontroller'])(
    '%s',
    async (path) => {
      const fromArtifact = await kustomizeBuild({ resources: [join(pulled, path)] });
      expect(parseAllDocuments(fromArtifact).map((document) => document.toJS())).toEqual(
        parseAllDocuments(await bundle(join('manifests', path), IMAGE)).map((document) => document.toJS()),
      );
    },
    300_000,
  );
});

it.each([
  ['without a digest', 'none', 'rollout-hooks:0.1.0', 'rollout-hooks:0.1.0 is not IMAGE@sha256:DIGEST'],
  ['into a folder that exists', 'pulled', IMAGE, 'pulled exists'],
])('is refused %s', (_, out, image, message) => {
  expect(() => writeArtifact(join(folder, out), image)).toThrow(message);
});
