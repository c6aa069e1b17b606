/**
 * Adopts an object: reads the inputs of the plan, and makes its writes in an order in which the object
 * always has a version.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { ImagePolicy, ImageRepository } from '../api/flux.ts';
import { KINDS, type KindName, ROLLOUTS } from '../api/kinds.ts';
import type { KubeObject } from '../api/kubernetes.ts';
import type { Rollout } from '../api/types.ts';
import {
  type Adoption,
  type AdoptionContext,
  adoptWrites,
  imagesOf,
  notStartedText,
  rolloutRef,
} from '../client/actions/writes/adoption.ts';
import type { WriteRequest } from '../client/actions/writes/plannedWrite.ts';
import { type KubeClient, unlessRefused } from '../tools/kube/kubeClient.ts';
import { Problem } from '../tools/kube/problem.ts';
import { find } from '../tools/read/namedObjects.ts';

const PATIENCE_MS = 30_000;
const POLL_MS = 300;

/**
 * Makes the writes of an adoption. `make` sends one. @throws Problem if the Rollout does not start with the running
 * version: then nothing is bound.
 */
export async function makeAdoption(
  client: KubeClient,
  found: Adoption,
  make: (write: WriteRequest) => Promise<unknown>,
  { isDryRun = false, signal }: { isDryRun?: boolean; signal?: AbortSignal } = {},
): Promise<void> {
  const { hold, begin, bind } = adoptWrites(found);
  // The RolloutGate may exist already, from a first attempt that was interrupted.
  if (hold && !(await find(client, 'RolloutGate', hold.object))) await make(hold);
  if (begin) await make(begin);
  if (!isDryRun) await awaitStart(client, found, signal);
  await make(bind);
}

async function awaitStart(client: KubeClient, found: Adoption, signal: AbortSignal | undefined): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const rollout = await client.get<Rollout>({ ...ROLLOUTS, ...rolloutRef(found) });
    if (rollout?.status?.history?.[0]?.version.tag === found.version) return;
    if (performance.now() > deadline) throw new Problem(notStartedText(found, PATIENCE_MS / 1000));
    await wait(POLL_MS, undefined, signal && { signal });
  }
}

export async function readAdoptionContext(client: KubeClient, namespace: string): Promise<AdoptionContext> {
  const [policies, repositories, rollouts] = await Promise.all([
    anyVersion<ImagePolicy>(client, 'ImagePolicy', namespace),
    unlessRefused(anyVersion<ImageRepository>(client, 'ImageRepository', namespace), 403),
    client.list<Rollout>({ ...ROLLOUTS, namespace }),
  ]);
  return { policies, images: imagesOf(repositories ?? []), rollouts };
}

/**
 * The objects of a kind in any served version: older Flux serves image kinds in an older version
 * only. `namespace` undefined: all.
 */
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
