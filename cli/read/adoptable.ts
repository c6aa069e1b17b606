/** What a take-over is found out from: ImagePolicies, the images that they look at, and the Rollouts that there are. */
import type { ImagePolicy, ImageRepository } from '../../api/flux.ts';
import { KINDS, type KindName, ROLLOUTS } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { type Around, imagesOf } from '../../client/actions/writes/adoption.ts';
import { type KubeClient, unlessRefused } from '../kube/client.ts';

export async function readAround(client: KubeClient, namespace: string): Promise<Around> {
  const [policies, repositories, rollouts] = await Promise.all([
    anyVersion<ImagePolicy>(client, 'ImagePolicy', namespace),
    unlessRefused(anyVersion<ImageRepository>(client, 'ImageRepository', namespace), 403),
    client.list<Rollout>({ ...ROLLOUTS, namespace }),
  ]);
  return { policies, images: imagesOf(repositories ?? []), rollouts };
}

/** Older Flux serves image kinds in an older version only. `namespace` undefined: all. */
export async function anyVersion<T extends KubeObject<any, any>>(
  client: KubeClient,
  kind: KindName,
  namespace: string | undefined,
): Promise<T[]> {
  const { group, versions, resource } = KINDS[kind];
  for (const version of versions) {
    const found = await unlessRefused(client.list<T>({ apiVersion: `${group}/${version}`, resource, namespace }), 404);
    if (found) return found;
  }
  return [];
}
