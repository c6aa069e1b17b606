/** Rollouts that copy releases between two real registries with passwords. */
import { PASSWORD, type RealRegistry, USER } from '../../../dev/local/registry/realRegistry.ts';
import { objectOf } from '../../support/objects.ts';
import type { AnyObject, ClusterView } from './cluster.ts';
import { type RolloutScenario, scenarioOf } from './rolloutScenario.ts';
import { conditionOf } from './versions.ts';

/** A namespace with Secrets for both registries, and its own repositories in each. */
interface Registries {
  source: RealRegistry;
  target: RealRegistry;
}

export async function copyScenario(view: ClusterView, { source, target }: Registries) {
  const { admin, newNamespace, publish } = view;
  const scenario = scenarioOf(view, await newNamespace());
  const { ns } = scenario;
  await pullSecret(view, ns, 'pull', source);
  await pullSecret(view, ns, 'push', target);
  const spec = { image: `${source.host}/${ns}/app`, interval: '1m', insecure: true, secretRef: { name: 'pull' } };
  await admin.create(objectOf('ImageRepository', { metadata: { namespace: ns, name: 'app' }, spec }));
  return {
    ...scenario,
    /** Pushes a release to the source, and the ImagePolicy selects it. */
    async release(tag: string) {
      const digest = await pushTo(source, `${ns}/app`, tag);
      await publish(ns, 'app', tag, digest);
      return digest;
    },
    inTarget: async (tag: string) => (await target.pull(`${ns}/prod`, tag))?.digest,
    jobs: () => admin.list('batch/v1', 'Job', ns),
    copied: async () => conditionOf({ status: await scenario.statusOf() } as AnyObject, 'Copied'),
  };
}

export async function pushTo(registry: RealRegistry, repository: string, tag: string, content = tag): Promise<string> {
  const blob = { mediaType: 'application/octet-stream', ...(await registry.pushBlob(repository, content)) };
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  return registry.push(repository, tag, { schemaVersion: 2, mediaType, config: blob, layers: [blob] });
}

/** A Secret that opens a registry. */
export async function pullSecret(
  { admin }: ClusterView,
  namespace: string,
  name: string,
  { host }: Pick<RealRegistry, 'host'>,
): Promise<void> {
  const auth = Buffer.from(`${USER}:${PASSWORD}`).toString('base64');
  const config = Buffer.from(JSON.stringify({ auths: { [host]: { auth } } })).toString('base64');
  await admin.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': config },
  } as AnyObject);
}

/** spec.targetRepository of the scenario's namespace. */
export function targetOf({ ns }: RolloutScenario, { target }: Registries, rest: object = {}) {
  return {
    targetRepository: { url: `oci://${target.host}/${ns}/prod`, insecure: true, secretRef: { name: 'push' }, ...rest },
  };
}
