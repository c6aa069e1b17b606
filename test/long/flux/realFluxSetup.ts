/** A control plane with the real Flux controllers and a real registry, and a namespace with access to the registry. */
import { afterAll, beforeAll } from 'vitest';
import { type FluxControllers, startFlux } from '../../../dev/local/flux/controllers.ts';
import { freePort } from '../../../dev/local/process/ports.ts';
import { pushArtifact, pushChart, registrySecret } from '../../../dev/local/registry/artifact.ts';
import { type RealRegistry, startRealRegistry } from '../../../dev/local/registry/realRegistry.ts';
import { type ClusterView, viewCluster } from '../../cluster/support/cluster.ts';
import { startTestCluster, type TestCluster } from '../../cluster/support/testCluster.ts';

type Files = Readonly<Record<string, string>>;

interface RealFluxSetup {
  view: ClusterView;
  /** Flux reconciles objects of this namespace. */
  ns: string;
  /** `spec` of an OCIRepository for a repository of the registry. */
  source(repository: string): Record<string, unknown>;
  /** Pushes manifests as CI does; `files`: content by path. */
  push(repository: string, tag: string, files: Files): Promise<void>;
  /** Pushes a chart as CI does; `templates`: content by name. */
  pushChart(name: string, version: string, templates: Files): Promise<void>;
  /** Address of the hook server's inputs. */
  inputs: string;
}

/** For the tests of a file: view, namespace and inputs are set before the first one. */
export function realFluxSetup(
  options: Parameters<typeof startFlux>[1] & { hookEnv?: Record<string, string> } = {},
): RealFluxSetup {
  let cluster: TestCluster;
  let flux: FluxControllers;
  let registry: RealRegistry;
  const setup: Partial<RealFluxSetup> & Omit<RealFluxSetup, 'inputs' | 'view' | 'ns'> = {
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
    setup.inputs = `https://127.0.0.1:${inputs}`;
    const view = viewCluster(cluster);
    flux = await startFlux(view.admin, options);
    const ns = await view.newNamespace();
    await view.admin.create(registrySecret(ns, 'registry', registry));
    Object.assign(setup, { view, ns });
  }, 1_500_000);
  afterAll(async () => {
    await flux?.stop();
    await cluster?.dispose();
    await registry?.stop();
  });
  return setup as RealFluxSetup;
}
