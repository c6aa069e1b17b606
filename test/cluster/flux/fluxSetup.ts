/** The setup of the scenarios of Flux, the same for the real one (test/long/flux) and the fake. */
import { afterAll, beforeAll } from 'vitest';
import { fakeFlux } from '../../../dev/actors/fakeFlux.ts';
import type { Artifact } from '../../../dev/actors/fakeKustomize.ts';
import { type ClusterView, sharedCluster } from '../support/cluster.ts';

export interface FluxSetup {
  isReal: boolean;
  view: ClusterView;
  /** Flux reconciles objects of this namespace. */
  ns: string;
  /** `spec` of an OCIRepository for a repository of the registry. */
  source(repository: string): Record<string, unknown>;
  /** Pushes manifests as CI does; `files`: content by path. */
  push(repository: string, tag: string, files: Artifact): Promise<void>;
  /** Pushes a chart as CI does; `templates`: content by name. */
  pushChart(name: string, version: string, templates: Artifact): Promise<void>;
}

/** For the tests of a file, with the fake Flux on the shared cluster; view and namespace are set when they begin. */
export function fakeFluxSetup(): FluxSetup {
  const registry = new Map<string, Artifact>();
  const push = async (repository: string, tag: string, files: Artifact) => {
    registry.set(`${repository}:${tag}`, files);
  };
  const setup: FluxSetup = {
    isReal: false,
    view: sharedCluster(),
    ns: '',
    source: (repository) => ({ url: `oci://registry.example.com/${repository}`, interval: '1m' }),
    push,
    pushChart: push,
  };
  let following: ReturnType<ReturnType<typeof fakeFlux>['follow']> | undefined;
  beforeAll(async () => {
    setup.ns = await setup.view.newNamespace();
    following = fakeFlux(setup.view, (repository, tag) => registry.get(`${repository}:${tag}`)).follow(setup.ns);
  });
  afterAll(() => following?.stop());
  return setup;
}
