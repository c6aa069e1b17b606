/** Flux in the demo: a fake, or the real controllers and a real registry. The output is the same with either. */
import { fakeFlux } from '../../actors/fakeFlux.ts';
import * as build from '../../actors/objects.ts';
import { User } from '../../actors/user.ts';
import type { Access } from '../../client/kubeconfig.ts';
import type { AnyObject } from '../../client/send.ts';
import { startFlux } from '../flux/controllers.ts';
import type { Log } from '../process/log.ts';
import { until } from '../process/until.ts';
import { pushArtifact, registrySecret } from '../registry/artifact.ts';
import { startRealRegistry } from '../registry/realRegistry.ts';
import { APP, HOME, NEIGHBOURS } from './objects.ts';

export interface DemoFlux {
  /** More of the OCIRepository's spec: where its artifacts are. */
  readonly source: Record<string, unknown>;
  /** What source-controller needs in the OCIRepository's namespace to read them. */
  readonly credentials: readonly AnyObject[];
  /** CI pushes a version. */
  push(tag: string): Promise<void>;
  /** A Git sync applies a manifest. Resolves with the Warnings of the API server, where they are shown to anybody. */
  sync(manifest: AnyObject): Promise<string[]>;
  stop(): Promise<void>;
}

/** Nothing is fetched or applied: only statuses are written. */
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

/** What CI pushes: Flux sets the variable, and the source brings the rest. */
const manifest = (tag: string) => `apiVersion: v1
kind: ConfigMap
metadata: { name: ${APP} }
data: { artifact: "${tag}", variable: "\${APP_VERSION}" }
`;
/** Of what the demo's Git repository has, as an artifact. */
const FLEET = 'fleet';
const SYSTEM = 'flux-system';
const SECRET = 'registry';

/** Builds what the cache does not have: ten minutes on two cores. */
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
  // What Git says.
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
      await until(`kustomize-controller to apply ${tag} of ${FLEET}`, async () => {
        const { status } = await admin.get(build.ref('kustomization', SYSTEM, FLEET));
        return status?.lastAppliedRevision?.startsWith(`${tag}@`) || undefined;
      });
      return [];
    },
    async stop() {
      await controllers.stop();
      await registry.stop();
    },
  };
}
