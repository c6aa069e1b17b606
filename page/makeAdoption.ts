/** Adopting an object: reads what the plan depends on, and makes its writes in an order in which nothing runs without a version. */
import { setTimeout as wait } from 'node:timers/promises';
import type { ImagePolicy, ImageRepository } from '../api/flux.ts';
import { KINDS, type KindName, ROLLOUTS } from '../api/kinds.ts';
import type { KubeObject } from '../api/kubernetes.ts';
import type { Rollout } from '../api/types.ts';
import {
  type Adoption,
  type Around,
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

/** `make` sends a write. @throws Problem where the Rollout does not begin with the version that runs: nothing is bound then. */
export async function makeAdoption(
  client: KubeClient,
  found: Adoption,
  make: (write: WriteRequest) => Promise<unknown>,
  { isDryRun = false, signal }: { isDryRun?: boolean; signal?: AbortSignal } = {},
): Promise<void> {
  const { hold, begin, bind } = adoptWrites(found);
  // It may be there from a first attempt that was interrupted.
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
