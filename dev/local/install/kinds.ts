/** The kinds a cluster needs: ours, Flux's and Metacontroller's. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Access } from '../../client/kubeconfig.ts';
import { type AnyObject, send } from '../../client/send.ts';
import { REPOSITORY } from '../../repository.ts';
import { FLUX_MODULES, provideCrds } from '../binaries/crdModules.ts';
import type { Log } from '../process/log.ts';
import { Problem } from '../process/problem.ts';
import { applyAll } from './applyAll.ts';
import { readManifests } from './manifests.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Installs `kinds`, and Flux's from `fluxFolders`, and waits until the API server serves them. */
export async function installKinds(admin: Access, kinds: AnyObject[], fluxFolders: string[]): Promise<void> {
  await install(admin, [...kinds, ...flux(fluxFolders)]);
}

/** Installs those of `kinds` that are ours, and those of Metacontroller and Flux that the cluster does not have. */
export async function installMissingKinds(admin: Access, kinds: AnyObject[], log: Log): Promise<void> {
  const { object } = await send<{ items: AnyObject[] }>(admin, 'GET', CRDS);
  const groups = new Set(object.items.map(({ spec }) => spec.group));
  const names = new Set(object.items.map(({ metadata }) => metadata.name));
  const missing = FLUX_MODULES.filter(({ group }) => !groups.has(group));
  const folders = missing.length > 0 ? await provideCrds(log, missing) : [];
  const isOurs = ({ spec }: AnyObject) => spec.group !== METACONTROLLER;
  const others = [...kinds.filter((crd) => !isOurs(crd)), ...flux(folders)];
  await install(admin, [...kinds.filter(isOurs), ...others.filter(({ metadata }) => !names.has(metadata.name))]);
}

const METACONTROLLER = 'metacontroller.k8s.io';
const flux = (folders: string[]) => [...folders, join(REPOSITORY, 'dev/local/install/crds')].flatMap(readManifests);

async function install(admin: Access, crds: AnyObject[]): Promise<void> {
  await applyAll(admin, crds);
  await Promise.all(crds.map((crd) => established(admin, crd.metadata.name ?? '')));
}

async function established(admin: Access, name: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const { object } = await send(admin, 'GET', `${CRDS}/${name}`);
    const conditions: { type: string; status: string; message: string }[] = object.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    if (performance.now() > deadline) {
      throw new Problem(
        `The API server does not serve ${name}: ${conditions.map(({ message }) => message).join('; ')}`,
      );
    }
    await wait(50);
  }
}
