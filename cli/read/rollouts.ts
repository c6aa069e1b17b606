/** The Rollouts that a command is about: by name, by namespace, or all. */
import type { ImagePolicy } from '../../api/flux.ts';
import { KINDS, ROLLOUTS } from '../../api/kinds.ts';
import type { Rollout } from '../../api/types.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import type { Cluster } from '../command/command.ts';
import { type KubeClient, unlessRefused } from '../kube/client.ts';
import { Problem } from '../terminal/exit.ts';
import { elsewhere } from './target.ts';

/** How a command says which Rollouts it means. */
export interface Which {
  names: readonly string[];
  everywhere: boolean;
  selector?: string | undefined;
}

/** In the order of the names, or of namespace and name. @throws Problem for a name that there is not. */
export async function readRollouts(
  { client, namespace }: Cluster,
  { names, everywhere, selector }: Which,
): Promise<Rollout[]> {
  if (names.length > 0) return Promise.all(names.map((name) => readRollout({ client, namespace }, name)));
  const from = { ...ROLLOUTS, namespace: everywhere ? undefined : namespace, labelSelector: selector };
  const found = await client.list<Rollout>(from);
  const key = ({ metadata }: Rollout) => `${metadata.namespace}/${metadata.name}`;
  return found.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The same in pages, as they arrive: the API server's order is namespace and name. */
export async function* rolloutPages(cluster: Cluster, which: Which): AsyncGenerator<Rollout[]> {
  if (which.names.length > 0) {
    yield readRollouts(cluster, which);
    return;
  }
  const namespace = which.everywhere ? undefined : cluster.namespace;
  for await (const { items } of cluster.client.pages<Rollout>({
    ...ROLLOUTS,
    namespace,
    labelSelector: which.selector,
  })) {
    yield items;
  }
}

/** `name`, `rollout/name`, or `namespace/name` as -A prints it. */
export async function readRollout(
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  text: string,
): Promise<Rollout> {
  const ref = rolloutRef(text, namespace);
  const rollout = await client.get<Rollout>({ ...ROLLOUTS, ...ref });
  if (rollout) return rollout;
  const hint = await elsewhere(client, ROLLOUTS, ref.name);
  throw new Problem(`There is no Rollout '${ref.name}' in namespace '${ref.namespace}'.${hint}`);
}

/** The ImagePolicy of a Rollout; undefined where there is none, or it may not be read. */
export async function readPolicy(client: KubeClient, rollout: Rollout): Promise<ImagePolicy | undefined> {
  const ref = policyRef(rollout);
  const { group, versions, resource } = KINDS.ImagePolicy;
  for (const version of ref ? versions : []) {
    const from = { apiVersion: `${group}/${version}`, resource, ...ref! };
    const found = await unlessRefused(client.get<ImagePolicy>(from), 403);
    if (found) return found;
  }
  return undefined;
}

const KIND = /^rollouts?(\.kuberik\.com)?$/i;

function rolloutRef(text: string, home: string): { namespace: string; name: string } {
  const [first = '', second] = text.split('/');
  if (second === undefined) return { namespace: home, name: first };
  return { namespace: KIND.test(first) ? home : first, name: second };
}
