/** Live reads of the versions in Flux objects and of the Rollout's history. */

import { ref } from '../../../dev/actors/objects.ts';
import { type AnyObject, send } from '../../../dev/client/send.ts';
import { waitFor } from '../../../dev/local/process/waitFor.ts';
import type { ClusterView } from './cluster.ts';

type Reader = ClusterView['admin'];

export async function substitutes(reader: Reader, namespace: string, name: string): Promise<Record<string, string>> {
  return (await reader.get(ref('kustomization', namespace, name))).spec.postBuild?.substitute ?? {};
}

export async function imageTag(reader: Reader, namespace: string, name: string): Promise<string | undefined> {
  return (await reader.get(ref('ociRepository', namespace, name))).spec.ref?.tag;
}

/** `[id, tag]`, newest first. */
export async function history(reader: Reader, namespace: string, name: string): Promise<[number, string][]> {
  const { status } = await reader.get(ref('rollout', namespace, name));
  return (status?.history ?? []).map(({ id, version }: AnyObject) => [id, version.tag]);
}

/** Waits until a Kustomization has these values of variables. */
export async function variablesArrive(
  reader: Reader,
  namespace: string,
  name: string,
  wanted: Record<string, string>,
): Promise<void> {
  await waitFor(
    async () => {
      const found = await substitutes(reader, namespace, name);
      const missing = Object.entries(wanted).filter(([variable, value]) => found[variable] !== value);
      if (missing.length > 0) throw new Error(`has ${JSON.stringify(found)}`);
      return true;
    },
    `${name} to have ${JSON.stringify(wanted)}`,
  );
}

export async function tagArrives(reader: Reader, namespace: string, name: string, tag: string): Promise<void> {
  await waitFor(async () => (await imageTag(reader, namespace, name)) === tag, `${name} to have the tag ${tag}`);
}

/** The condition of a type, or undefined. */
export function conditionOf(object: AnyObject | undefined, type: string): AnyObject | undefined {
  return (object?.status?.conditions ?? []).find((condition: AnyObject) => condition.type === type);
}

/** The columns of `kubectl get rollouts` for the namespace's only Rollout. */
export async function columnsOf({ access }: Reader, ns: string): Promise<Record<string, unknown>> {
  const path = `/apis/kuberik.com/v1alpha1/namespaces/${ns}/rollouts`;
  const { object } = await send(access, 'GET', path, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' });
  return Object.fromEntries(
    object.columnDefinitions.map(({ name }: AnyObject, i: number) => [name, object.rows[0].cells[i]]),
  );
}
