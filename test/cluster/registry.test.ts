/** Metadata of a release in a real registry reaches its Rollout. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../dev/local/controlPlane/users.ts';
import { type RealRegistry, startRealRegistry } from '../../dev/local/registry/realRegistry.ts';
import { call as command } from '../support/command.ts';
import { objectOf } from '../support/objects.ts';
import { ref, sharedCluster, waitFor } from './support/cluster.ts';
import { pullSecret } from './support/copyScenario.ts';
import { expectGolden } from './support/golden.ts';
import { grant } from './support/grant.ts';
import { nextSecond, type RolloutScenario, scenarioOf } from './support/rolloutScenario.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;
const SECRET = 'registry-credentials';
const OCI = 'org.opencontainers.image';
const FLUX_ARTIFACT = 'application/vnd.cncf.flux.config.v1+json';
const CREATED: Record<string, string> = { '1.0.0': '2026-01-02T12:00:00Z', '1.1.0': '2026-02-03T12:00:00Z' };

let registry: RealRegistry;

beforeAll(async () => {
  registry = await startRealRegistry();
  for (const [tag, created] of Object.entries(CREATED)) await push(tag, created);
});

afterAll(() => registry?.stop());

async function push(tag: string, created: string): Promise<void> {
  const config = { mediaType: FLUX_ARTIFACT, ...(await registry.pushBlob('acme/web', '{}')) };
  await registry.push('acme/web', tag, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config,
    layers: [],
    annotations: {
      [`${OCI}.version`]: `v${tag}`,
      [`${OCI}.revision`]: `main@sha1:${tag}`,
      [`${OCI}.created`]: created,
      [`${OCI}.source`]: 'https://git.example/acme/web',
      [`${OCI}.title`]: 'Web',
      [`${OCI}.description`]: 'The shop window',
    },
  });
}

/** An ImageRepository with its password in a Secret, and the Rollout `app` of that image. */
async function privateImage(host: string): Promise<RolloutScenario> {
  const scenario = scenarioOf(view, await newNamespace());
  await pullSecret(view, scenario.ns, SECRET, { host });
  await admin.create(
    objectOf('ImageRepository', {
      metadata: { namespace: scenario.ns, name: 'app' },
      spec: { image: `${host}/acme/web`, interval: '1m', insecure: true, secretRef: { name: SECRET } },
    }),
  );
  return scenario;
}

/**
 * Creates the role of manifests/examples/registry-credentials.yaml, without which the hook server may not read the
 * Secret.
 */
async function letHooksRead({ ns }: RolloutScenario): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['secrets'], resourceNames: [SECRET], verbs: ['get'] }];
  await grant(admin, ns, 'rollout-hooks-registry', ['rollout-hooks/rollout-hooks'], rules);
}

const deployed = (tag: string) => ({ tag, version: `v${tag}`, revision: `main@sha1:${tag}`, created: CREATED[tag] });
const known = (tag: string) => ({ ...deployed(tag), firstSeen: expect.any(String) });

const isKnown = (scenario: RolloutScenario, tag: string) =>
  waitFor(async () => {
    const status = await scenario.statusOf();
    expect(status.history[0].version).toEqual(deployed(tag));
    expect(status.availableReleases.at(-1)).toEqual(known(tag));
    return status;
  }, `the metadata of ${tag}`);

async function differences(ns: string, options: string): Promise<string> {
  const { out, code } = await command(`history app --diff 1 2 -n ${ns} ${options}`, {
    now: () => Date.now() + 60_000,
    env: { KUBECONFIG: join(view.dir, USERS.developer.file) },
  });
  return `${out}--- exit code ${code}\n`;
}

describe('a registry with a password', () => {
  it('reports each release and the artifact as soon as the answer is there; the history shows the differences', async () => {
    const scenario = await privateImage(registry.host);
    await letHooksRead(scenario);
    await scenario.publish('1.0.0');
    await scenario.create({ releaseConfigMap: { name: 'release' } });
    await scenario.headIs('1.0.0', 'Succeeded');
    expect(await isKnown(scenario, '1.0.0')).toMatchObject({
      artifactType: FLUX_ARTIFACT,
      source: 'https://git.example/acme/web',
      title: 'Web',
      description: 'The shop window',
    });
    await waitFor(async () => {
      const { data } = await admin.get(ref('configMap', scenario.ns, 'release'));
      expect(data).toEqual({ tag: '1.0.0', version: 'v1.0.0', revision: 'main@sha1:1.0.0', digest: '' });
      return true;
    }, 'the ConfigMap to have it too');
    await nextSecond();
    await scenario.publish('1.1.0');
    await isKnown(scenario, '1.1.0');
    expect((await scenario.statusOf()).availableReleases).toEqual([known('1.0.0'), known('1.1.0')]);
    await scenario.headIs('1.1.0', 'Succeeded');
    await expectGolden('history-diff', await differences(scenario.ns, ''), scenario.ns);
    await expectGolden('history-diff-json', await differences(scenario.ns, '-o json'), scenario.ns);
  });
});
