/** What lets the hooks recognize Metacontroller: the component authenticated-hooks, for the control plane on one machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Access } from '../../client/kubeconfig.ts';
import type { AnyObject } from '../../client/send.ts';
import { REPOSITORY } from '../../repository.ts';
import { applyAll } from './applyAll.ts';
import { readManifests } from './manifests.ts';

const COMPONENT = join(REPOSITORY, 'manifests/components/authenticated-hooks');
const [{ value: endpointConfigs }] = parse(readFileSync(join(COMPONENT, 'endpoint.yaml'), 'utf8'));

/** The Secret, and Metacontroller's right to read it. */
export async function installHooksToken(admin: Access, token: string): Promise<void> {
  const { name, namespace, key } = endpointConfigs[0].authorization.secretRef;
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData: { [key]: token } };
  const rights = readManifests(COMPONENT).filter(({ apiVersion }) => apiVersion?.startsWith('rbac.'));
  await applyAll(admin, [secret, ...rights]);
}

/** A controller whose hooks are called with the token. */
export function withToken(controller: AnyObject): AnyObject {
  return { ...controller, spec: { ...controller.spec, endpointConfigs } };
}
