/** The kinds a cluster needs: ours, Flux's and Metacontroller's. */
import { join } from 'node:path';
import type { Access } from '../../client/kubeconfig.ts';
import { type AnyObject, send } from '../../client/send.ts';
import { REPOSITORY } from '../../repository.ts';
import { waitFor } from '../process/waitFor.ts';
import { applyAll } from './applyAll.ts';
import { readManifests } from './manifests.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Installs `kinds`, and Flux's from `fluxFolders`, and waits until the API server serves them. */
export async function installKinds(admin: Access, kinds: AnyObject[], fluxFolders: string[]): Promise<void> {
  const folders = [...fluxFolders, join(REPOSITORY, 'dev/local/install/crds')];
  const crds = [...kinds, ...folders.flatMap(readManifests)];
  await applyAll(admin, crds);
  await Promise.all(crds.map((crd) => established(admin, crd.metadata.name ?? '')));
}

async function established(admin: Access, name: string): Promise<void> {
  const isEstablished = async () => {
    const { status } = (await send(admin, 'GET', `${CRDS}/${name}`)).object;
    const conditions: { type: string; status: string; message: string }[] = status?.conditions ?? [];
    if (conditions.some((each) => each.type === 'Established' && each.status === 'True')) return true;
    throw new Error(conditions.map(({ message }) => message).join('; '));
  };
  await waitFor(isEstablished, `the API server serves ${name}`);
}
