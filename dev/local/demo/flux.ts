/** Flux in the demo: a fake, or the real controllers and a real registry. */
import { fakeFlux } from '../../actors/fakeFlux.ts';
import * as build from '../../actors/objects.ts';
import { User } from '../../actors/user.ts';
import type { Access } from '../../client/kubeconfig.ts';
import type { AnyObject } from '../../client/send.ts';
import { startFlux } from '../flux/controllers.ts';
import type { Log } from '../process/log.ts';
import { waitFor } from '../process/waitFor.ts';
import { pushArtifact, registrySecret } from '../registry/artifact.ts';
import { startRealRegistry } from '../registry/realRegistry.ts';
import { APP, HOME, NEIGHBOURS } from './objects.ts';

export interface DemoFlux {
  /** Fields of the OCIRepository's spec that locate its artifacts. */
  readonly source: Record<string, unknown>;
  /** Secrets in the OCIRepository's namespace with which source-controller reads the artifacts. */
  readonly credentials: readonly AnyObject[];
  /** CI pushes a version. */
  push(tag: string): Promise<void>;
  /** A Git sync applies a manifest. Resolves to the API server's Warnings; the real Flux shows none. */
  sync(manifest: AnyObject): Promise<string[]>;
  stop(): Promise<void>;
}

/** The fake Flux, which only writes statuses. */
export function withFakeFlux(accessOf: (user: 'flux') => Access): DemoFlux {
  const user = new User(accessOf('flux'));
  const flux = fakeFlux({ flux: user });
  const following = [HOME, NEIGHBOURS].map((namespace) => flux.follow(namespace));
  return {
    source: {},
    credentials: [],
    push: async () => {},
    sync: async (manifest) => (await user.apply(manifest, { manager: 'kustomize-controller', force: true })).warnings,
    async stop() {
      await Promise.all(following.map((each) => each.stop()));
    },
  };
}

/** The manifest in an artifact; Flux substitutes the variable. */
const manifest = (tag: string) => `apiVersion: v1
kind: ConfigMap
metadata: { name: ${APP} }
data: { artifact: "${tag}", variable: "\${APP_VERSION}" }
`;
/** Name of the artifact with the manifests of the demo's Git repository. */
const FLEET = 'fleet';
const SYSTEM = 'flux-system';
const SECRET = 'registry';

/** The real Flux with a real registry, built if the cache lacks them: ten minutes on two cores. */
export async function withRealFlux(accessOf: (user: 'admin') => Access, log: Log): Promise<DemoFlux> {
  const admin = new User(accessOf('admin'));
  const registry = await startRealRegistry(log);
  const controllers = await startFlux(admin, { log });
  const source = (repository: string) => ({
    url: `oci://${registry.host}/${repository}`,
    insecure: true,
    secretRef: { name: SECRET },
  });
  await admin.create(registrySecret(SYSTEM, SECRET, registry));
  let commits = 0;
  const push = async (tag: string) => {
    await pushArtifact(registry, APP, tag, { 'deploy/app.yaml': manifest(tag) });
  };
  // The version in Git.
  await push('0.9.0');
  return {
    source: source(APP),
    credentials: [registrySecret(HOME, SECRET, registry)],
    push,
    async sync(manifest) {
      const tag = `${++commits}.0.0`;
      await pushArtifact(registry, FLEET, tag, { 'app.yaml': JSON.stringify(manifest) });
      const spec = { ...source(FLEET), ref: { tag } };
      for (const object of [build.ociRepository(SYSTEM, FLEET, { spec }), build.kustomization(SYSTEM, FLEET)])
        await admin.apply(object, { manager: 'demo' });
      await waitFor(async () => {
        const { status } = await admin.get(build.ref('kustomization', SYSTEM, FLEET));
        return status?.lastAppliedRevision?.startsWith(`${tag}@`);
      }, `kustomize-controller applies ${tag} of ${FLEET}`);
      return [];
    },
    async stop() {
      await controllers.stop();
      await registry.stop();
    },
  };
}
