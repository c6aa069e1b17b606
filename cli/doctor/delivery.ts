/** What delivers the installation: if it waits for admission itself, Flux cannot repair what admission runs on. */
import {
  GATE_PREFIX,
  KUSTOMIZATION_NAME_LABEL,
  KUSTOMIZATION_NAMESPACE_LABEL,
  ROLLOUT_PREFIX,
} from '../../api/annotations.ts';
import { KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import { type Finding, orFine, problem, unseen } from '../../client/explain/doctor/finding.ts';
import { isApiError, type KubeClient } from '../kube/client.ts';
import type { Check } from './examined.ts';

const ABOUT = 'Delivery';

export const checkDelivery: Check = async ({ client }) => {
  try {
    const place = { apiVersion: 'apps/v1', resource: 'deployments', namespace: 'rollout-hooks' };
    const server = await client.get({ ...place, name: 'rollout-hooks' });
    const { [KUSTOMIZATION_NAME_LABEL]: name, [KUSTOMIZATION_NAMESPACE_LABEL]: namespace } =
      server?.metadata.labels ?? {};
    if (!name || !namespace) return [];
    const found = await deliverers(client, namespace, name);
    return orFine(
      ABOUT,
      found.flatMap(heldFindings),
      `by Kustomization ${namespace}/${name}, which admission is not asked about`,
    );
  } catch (error) {
    if (!isApiError(error, 403)) throw error;
    return [unseen(ABOUT, 'you may not read what Flux delivers this installation by')];
  }
};

/** The Kustomization, and its source. */
async function deliverers(client: KubeClient, namespace: string, name: string): Promise<KubeObject<any, any>[]> {
  const get = (kind: string, at: { namespace: string; name: string }) =>
    kind in KINDS ? client.get<KubeObject<any, any>>({ ...resourceOf(KINDS[kind as KindName]), ...at }) : undefined;
  const kustomization = await get('Kustomization', { namespace, name });
  const { sourceRef } = kustomization?.spec ?? {};
  const source = sourceRef && (await get(sourceRef.kind, { namespace, ...sourceRef }));
  return [
    ...(kustomization ? [{ ...kustomization, kind: 'Kustomization' }] : []),
    ...(source ? [{ ...source, kind: sourceRef.kind }] : []),
  ];
}

function heldFindings({ kind, metadata }: KubeObject<any, any>): Finding[] {
  const ours = Object.keys(metadata.annotations ?? {}).find(
    (key) => key.startsWith(ROLLOUT_PREFIX) || key.startsWith(GATE_PREFIX),
  );
  if (!ours) return [];
  return [
    problem(
      ABOUT,
      `${kind} ${metadata.namespace}/${metadata.name} delivers this installation and has the annotation ${ours}: while admission is down, no repair comes from Git`,
      'take the annotation off, or leave its namespace out of the Gate that selects it: docs/install.md, By Flux',
    ),
  ];
}
