/** A control plane with the real Flux controllers, a real registry, and a namespace that may read it. */
import { afterAll, beforeAll } from 'vitest';
import { type FluxControllers, startFlux } from '../../../dev/local/flux/controllers.ts';
import { freePort } from '../../../dev/local/process/ports.ts';
import { type ClusterView, viewCluster } from '../../cluster/support/cluster.ts';
import { startTestCluster, type TestCluster } from '../../cluster/support/testCluster.ts';
import { type RealRegistry, startRealRegistry } from '../../server/registry/realRegistry.ts';
import { registrySecret } from './artifact.ts';

export interface FluxWorld {
  view: ClusterView;
  registry: RealRegistry;
  ns: string;
  /** Address of the hook server's inputs. */
  inputs: string;
  /** `spec` of an OCIRepository for a repository of the registry. */
  source(repository: string): Record<string, unknown>;
}

/** For the tests of a file, from the first one to the last; the properties are set when they begin. */
export function fluxWorld(
  options: Parameters<typeof startFlux>[1] & { hookEnv?: Record<string, string> } = {},
): FluxWorld {
  const world = {} as FluxWorld;
  let cluster: TestCluster;
  let flux: FluxControllers;

  // The first one on a machine builds the controllers.
  beforeAll(async () => {
    world.registry = await startRealRegistry();
    const [receiver, inputs] = [await freePort(), await freePort()];
    const ports = { RECEIVER_PORT: `${receiver}`, INPUTS_PORT: `${inputs}` };
    cluster = await startTestCluster({ hookEnv: { ...options.hookEnv, ...ports } });
    world.inputs = `https://127.0.0.1:${inputs}`;
    world.view = viewCluster(cluster);
    flux = await startFlux(world.view.admin, options);
    world.ns = await world.view.newNamespace();
    world.source = (repository) => ({
      url: `oci://${world.registry.host}/${repository}`,
      insecure: true,
      interval: '1m',
      secretRef: { name: 'registry' },
    });
    await world.view.admin.create(registrySecret(world.ns, 'registry', world.registry));
  }, 1_500_000);
  afterAll(async () => {
    await flux?.stop();
    await cluster?.dispose();
    await world.registry?.stop();
  });
  return world;
}
