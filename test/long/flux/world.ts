/** A control plane with the real Flux controllers, a real registry, and a namespace that may read it. */
import { afterAll, beforeAll } from 'vitest';
import { type FluxControllers, startFlux } from '../../../dev/local/flux/controllers.ts';
import { freePort } from '../../../dev/local/process/ports.ts';
import { pushArtifact, pushChart, registrySecret } from '../../../dev/local/registry/artifact.ts';
import { type RealRegistry, startRealRegistry } from '../../../dev/local/registry/realRegistry.ts';
import type { FluxWorld } from '../../cluster/flux/world.ts';
import { viewCluster } from '../../cluster/support/cluster.ts';
import { startTestCluster, type TestCluster } from '../../cluster/support/testCluster.ts';

interface RealWorld extends FluxWorld {
  /** Address of the hook server's inputs. */
  inputs: string;
}

/** For the tests of a file, from the first one to the last; view, namespace and inputs are set when they begin. */
export function realWorld(
  options: Parameters<typeof startFlux>[1] & { hookEnv?: Record<string, string> } = {},
): RealWorld {
  let cluster: TestCluster;
  let flux: FluxControllers;
  let registry: RealRegistry;
  const world: Partial<RealWorld> & Omit<RealWorld, 'inputs' | 'view' | 'ns'> = {
    isReal: true,
    source: (repository: string) => ({
      url: `oci://${registry.host}/${repository}`,
      insecure: true,
      interval: '1m',
      secretRef: { name: 'registry' },
    }),
    push: async (...artifact) => {
      await pushArtifact(registry, ...artifact);
    },
    pushChart: async (...chart) => {
      await pushChart(registry, ...chart);
    },
  };

  // The first one on a machine builds the controllers.
  beforeAll(async () => {
    registry = await startRealRegistry();
    const [receiver, inputs] = [await freePort(), await freePort()];
    const ports = { RECEIVER_PORT: `${receiver}`, INPUTS_PORT: `${inputs}` };
    cluster = await startTestCluster({ hookEnv: { ...options.hookEnv, ...ports } });
    world.inputs = `https://127.0.0.1:${inputs}`;
    const view = viewCluster(cluster);
    flux = await startFlux(view.admin, options);
    const ns = await view.newNamespace();
    await view.admin.create(registrySecret(ns, 'registry', registry));
    Object.assign(world, { view, ns });
  }, 1_500_000);
  afterAll(async () => {
    await flux?.stop();
    await cluster?.dispose();
    await registry?.stop();
  });
  return world as RealWorld;
}
