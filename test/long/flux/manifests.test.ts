/**
 * The OCI artifact of a release: the real Flux fetches and applies it, with the objects of
 * manifests/examples/install-with-flux.yaml.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { writeArtifact } from '../../../dev/image/byDigest.ts';
import { REPOSITORY } from '../../../dev/repository.ts';
import { type AnyObject, waitFor } from '../../cluster/support/cluster.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import { realFluxSetup } from './realFluxSetup.ts';

const setup = realFluxSetup();
const folder = temporaryFolder('manifests-');

const IMAGE = `registry.example.com/rollout-hooks@sha256:${'0123456789abcdef'.repeat(4)}`;
const NAME = 'rollout-hooks-manifests';

const example = readFileSync(join(REPOSITORY, 'manifests/examples/install-with-flux.yaml'), 'utf8');
const objects: AnyObject[] = parseAllDocuments(example).map((document) => document.toJS());

beforeAll(async () => {
  const out = join(folder, 'out');
  writeArtifact(out, IMAGE, 'https://git.example/');
  const files = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(out.length + 1), readFileSync(path, 'utf8')]);
  const [{ spec }] = objects as [AnyObject];
  await setup.push(NAME, spec.ref.tag, Object.fromEntries(files));
}, 60_000);

it('installs rollout-hooks and Metacontroller with the image of the release', async () => {
  const { ns, source, view } = setup;
  const sources: Record<string, unknown> = source(NAME);
  // Webhooks on this machine have a URL, those of the artifact a Service.
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
    await view.admin.remove({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { name: 'rollout-hooks' },
    });
  }
  for (const { apiVersion, kind, metadata, spec } of objects) {
    // There are no cert-manager and no Pods.
    const { dependsOn: _, components: __, wait: ___, ...rest } = spec;
    const changed = kind === 'OCIRepository' ? { ...rest, ...sources } : { ...rest, prune: false, retryInterval: '2s' };
    await view.admin.create({ apiVersion, kind, metadata: { ...metadata, namespace: ns }, spec: changed } as AnyObject);
  }
  for (const { apiVersion, kind, metadata } of objects) {
    await waitFor(
      async () => {
        const { status } = await view.admin.get<AnyObject>({
          apiVersion,
          kind,
          metadata: { ...metadata, namespace: ns },
        });
        const ready = status?.conditions?.find(({ type }: AnyObject) => type === 'Ready');
        if (ready?.status !== 'True') throw new Error(ready?.message);
        return true;
      },
      `${kind} ${metadata.name} to be ready`,
      180_000,
    );
  }
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment' };
  const server = await view.admin.get<AnyObject>({
    ...deployment,
    metadata: { namespace: 'rollout-hooks', name: 'rollout-hooks' },
  });
  expect(server.spec.template.spec.containers.map(({ image }: AnyObject) => image)).toEqual([IMAGE]);
  await view.admin.get({ ...deployment, metadata: { namespace: 'metacontroller', name: 'metacontroller' } });
}, 600_000);
