/** The kinds a cluster needs: ours, Flux's and Metacontroller's. */
import { join } from 'node:path';
import type { Access } from '../../client/kubeconfig.ts';
import { type AnyObject, send } from '../../client/send.ts';
import { REPOSITORY } from '../../repository.ts';
import { FLUX_MODULES, provideCrds } from '../binaries/crdModules.ts';
import type { Log } from '../process/log.ts';
import { until } from '../process/until.ts';
import { applyAll } from './applyAll.ts';
import { readManifests } from './manifests.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Installs `kinds`, and Flux's from `fluxFolders`, and waits until the API server serves them. */
export async function installKinds(admin: Access, kinds: AnyObject[], fluxFolders: string[]): Promise<void> {
  await install(admin, [...kinds, ...flux(fluxFolders)]);
}

/** Installs our kinds, and kinds of Metacontroller and Flux that the cluster lacks. */
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
  let conditions: { type: string; status: string; message: string }[] = [];
  const isEstablished = async () => {
    conditions = (await send(admin, 'GET', `${CRDS}/${name}`)).object.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Established' && status === 'True') || undefined;
  };
  await until(`the API server to serve ${name}`, isEstablished, () =>
    conditions.map(({ message }) => message).join('; '),
  );
}
