/** Checks that admission does not govern the Kustomization that delivers it: then Flux could not repair admission. */
import {
  GATE_PREFIX,
  KUSTOMIZATION_NAME_LABEL,
  KUSTOMIZATION_NAMESPACE_LABEL,
  ROLLOUT_PREFIX,
} from '../../api/annotations.ts';
import { KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { AnyObject } from '../../api/kubernetes.ts';
import { checkOf, type Found, findingsOrFine, problem } from './finding.ts';

export const checkDelivery = checkOf(
  'Delivery',
  async ({ client }) => {
    const get = async (kind: string, at: { namespace: string; name: string }): Promise<AnyObject[]> => {
      if (!(kind in KINDS)) return [];
      const found = await client.get<AnyObject>({ ...resourceOf(KINDS[kind as KindName]), ...at });
      return found ? [{ ...found, kind }] : [];
    };
    const place = { apiVersion: 'apps/v1', resource: 'deployments', namespace: 'rollout-hooks' };
    const server = await client.get({ ...place, name: 'rollout-hooks' });
    const { [KUSTOMIZATION_NAME_LABEL]: name, [KUSTOMIZATION_NAMESPACE_LABEL]: namespace } =
      server?.metadata.labels ?? {};
    if (!name || !namespace) return [];
    const own = await get('Kustomization', { namespace, name });
    const { sourceRef } = own[0]?.spec ?? {};
    const source = sourceRef ? await get(sourceRef.kind, { namespace, ...sourceRef }) : [];
    const found = [...own, ...source].flatMap(governedFindings);
    return findingsOrFine(found, `by Kustomization ${namespace}/${name}, which admission does not govern`);
  },
  "you aren't allowed to read the objects by which Flux applies this installation",
);

function governedFindings({ kind, metadata }: AnyObject): Found[] {
  const keys = Object.keys(metadata.annotations ?? {});
  const ours = keys.find((key) => key.startsWith(ROLLOUT_PREFIX) || key.startsWith(GATE_PREFIX));
  if (!ours) return [];
  const what = `${kind} ${metadata.namespace}/${metadata.name} applies this installation`;
  const text = `${what} and has the annotation ${ours}: while admission is down, Flux can't repair the installation from Git`;
  const fix = 'remove the annotation, or exclude its namespace from the Gate that selects it: docs/install.md, By Flux';
  return [problem(text, fix)];
}
