/** Adopts an object: reads the inputs of the plan, and makes its writes so that the object always has a version. */
import { setTimeout as wait } from 'node:timers/promises';
import type { FluxObject, ImagePolicy, ImageRepository } from '../api/flux.ts';
import { KINDS, type KindName, ROLLOUTS } from '../api/kinds.ts';
import type { AnyObject } from '../api/kubernetes.ts';
import type { HealthCheck, Rollout } from '../api/types.ts';
import { applyingKustomization } from '../client/actions/writes/adoptedBake.ts';
import {
  type Adoption,
  type AdoptionContext,
  adoptWrites,
  bindWrite,
  imagesOf,
  newObjects,
  notStartedText,
} from '../client/actions/writes/adoption.ts';
import type { WriteRequest } from '../client/actions/writes/plannedWrite.ts';
import { Problem } from '../client/problem.ts';
import { identityOf } from '../core/kube/names.ts';
import { type KubeClient, unlessRefused } from './kube/kubeClient.ts';
import { additionLines, annotationLines, type DiffStyle } from './kube/objectText.ts';
import { unreadableReviewer } from './read/accessReviews.ts';
import { listInAnyVersion } from './read/namedObjects.ts';

const START_TIMEOUT_MS = 30_000;
const POLL_MS = 300;

/**
 * Makes the writes of an adoption.
 * @param object the object that was planned for
 * @param make sends a write, planned again after a conflict
 * @throws Problem if the Rollout does not start with the running version, or if the object has changed; it is not bound
 * then
 */
export async function makeAdoption(
  client: KubeClient,
  { object, adoption }: { object: FluxObject; adoption: Adoption },
  make: (plan: () => WriteRequest | Promise<WriteRequest>) => Promise<unknown>,
  { isDryRun = false, signal }: { isDryRun?: boolean; signal?: AbortSignal } = {},
): Promise<void> {
  for (const create of adoptWrites(adoption).creates) {
    const { apiVersion, object: to } = create;
    // Gate and HealthCheck may exist already, from a first attempt that was interrupted.
    const isLeft = to.kind !== KINDS.Rollout.kind && (await client.get({ ...to, apiVersion }));
    if (!isLeft) await make(() => create);
  }
  if (!isDryRun) await awaitStart(client, adoption, signal);
  await make(async () => {
    const { resource } = KINDS[adoption.object.kind];
    const { namespace, name } = adoption.object;
    const now = await client.get<FluxObject>({ apiVersion: object.apiVersion, resource, namespace, name });
    return bindWrite(adoption, object, now);
  });
}

/** Waits until the Rollout has the running version as its first deployment. */
async function awaitStart(client: KubeClient, adoption: Adoption, signal: AbortSignal | undefined): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const rollout = await client.get<Rollout>({ ...ROLLOUTS, ...adoption.rolloutRef });
    if (rollout?.status?.history?.[0]?.version.tag === adoption.version) return;
    if (performance.now() > deadline) throw new Problem(notStartedText(adoption, START_TIMEOUT_MS / 1000));
    await wait(POLL_MS, undefined, signal && { signal });
  }
}

export async function readAdoptionContext(client: KubeClient, object: FluxObject): Promise<AdoptionContext> {
  const { namespace } = identityOf(object);
  const optional = <T extends AnyObject>(kind: KindName) =>
    unlessRefused(listInAnyVersion<T>(client, kind, namespace), 403, 404).then((found) => found ?? []);
  const [policies, rollouts, repositories, kustomizations, healthChecks] = await Promise.all([
    listInAnyVersion<ImagePolicy>(client, 'ImagePolicy', namespace),
    client.list<Rollout>({ ...ROLLOUTS, namespace }),
    optional<ImageRepository>('ImageRepository'),
    object.kind === KINDS.OCIRepository.kind ? optional<FluxObject>('Kustomization') : [],
    optional<HealthCheck>('HealthCheck'),
  ]);
  const kustomization = applyingKustomization(object, kustomizations);
  const applier = kustomization && { kustomization, unreadable: await unreadableReviewer(client)(kustomization) };
  return { policies, images: imagesOf(repositories), rollouts, health: { applier, healthChecks } };
}

/** The lines of the diff that an adoption makes. */
export async function adoptionDiff(object: FluxObject, adoption: Adoption, style?: DiffStyle): Promise<string[]> {
  const parts = [
    ...newObjects(adoption).map((each) => additionLines(each, style)),
    annotationLines(object, adoption.annotations, style),
  ];
  return (await Promise.all(parts)).flat();
}
