/** Live reads of what a HealthCheck of class kustomization is about: the source and the objects of the inventory. */
import type { UserInfo } from '../../api/admission.ts';
import { DEPLOYED } from '../../api/annotations.ts';
import type { FluxObject, Kustomization } from '../../api/flux.ts';
import { KUSTOMIZATIONS, ROLLOUTS } from '../../api/kinds.ts';
import type { KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { AccessReviewer, ClusterReader, ResourceRef } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import type { InventoryResource } from '../../core/health/objects/inventory.ts';
import type { ObservedResource } from '../../core/health/objects/resources.ts';
import { LIST_FROM, planReads, type Read } from '../../core/health/reads.ts';
import { LIMITS } from '../../core/limits.ts';
import { parseDeployments } from '../../core/pin/deployment.ts';
import { sourceOf, sourceResource } from '../../core/pin/source.ts';
import { inParallel } from '../inParallel.ts';

const AT_ONCE = 8;
/** Two rounds of requests that time out; what is left then would not be read either, and the sync has to end. */
const MAX_FAILURES = 2 * AT_ONCE;
const BEYOND = `not read: the inventory has more than ${LIMITS.inventoryKinds} kinds and namespaces (limit inventoryKinds)`;

/** Both undefined where there is no such object; the source also where its kind is unknown. Never rejects. */
export async function readKustomization(
  cluster: ClusterReader,
  ref: NamespacedName,
): Promise<{ kustomization?: Kustomization; source?: FluxObject } | { error: string }> {
  try {
    const kustomization = await cluster.get<Kustomization>({ ...KUSTOMIZATIONS, ...ref });
    const source = kustomization && (await readSource(cluster, kustomization));
    return { ...(kustomization && { kustomization }), ...(source && { source }) };
  } catch (error) {
    return { error: reasonOf(error) };
  }
}

async function readSource(cluster: ClusterReader, kustomization: Kustomization): Promise<FluxObject | undefined> {
  const source = sourceOf(kustomization as FluxObject);
  const resource = source && sourceResource(source);
  if (!source || !resource) return undefined;
  const { apiVersion, namespace, name } = source;
  return cluster.get<FluxObject>({ apiVersion, resource, namespace, name });
}

/** The Rollouts that have deployed into the objects, by what is annotated on them, but for those that are `known`. Never rejects. */
export async function readDeployers(
  cluster: ClusterReader,
  objects: readonly FluxObject[],
  known: readonly Rollout[],
): Promise<{ rollouts: Rollout[] } | { error: string }> {
  const uids = new Set(known.map(({ metadata }) => metadata.uid));
  const refs = new Map<string, NamespacedName>();
  for (const { metadata } of objects) {
    for (const { rollout: name, uid } of parseDeployments(metadata.annotations?.[DEPLOYED])) {
      if (!uids.has(uid)) refs.set(uid, { namespace: metadata.namespace ?? '', name });
    }
  }
  try {
    const some = [...refs.values()].slice(0, LIMITS.boundRollouts);
    const found = await inParallel(some, AT_ONCE, (ref) => cluster.get<Rollout>({ ...ROLLOUTS, ...ref }));
    return { rollouts: found.filter((rollout) => rollout !== undefined) };
  } catch (error) {
    return { error: reasonOf(error) };
  }
}

export interface InventoryReader {
  cluster: ClusterReader;
  access: AccessReviewer;
  /** Nothing is read that it may not read: whoever may write a status may write an inventory. undefined: it may all. */
  account: UserInfo | undefined;
  /** A label selector that finds most of them. */
  labelSelector: string | undefined;
}

/** Every resource but Secrets, which are always healthy and which we should not need the right to read. Never rejects. */
export async function readResources(
  resources: readonly InventoryResource[],
  { cluster, access, account, labelSelector }: InventoryReader,
): Promise<ObservedResource[]> {
  const planned = planReads(resources).filter((read) => read.how !== 'nothing');
  const reads = planned.slice(0, LIMITS.inventoryKinds);
  const beyond = planned
    .slice(LIMITS.inventoryKinds)
    .flatMap((read) => read.names.map((name) => unread(read, name, BEYOND)));
  const refused = await inParallel(reads, AT_ONCE, (read) => refusalOf(read, cluster, access, account));
  const closed = reads.flatMap((read, i) =>
    refused[i] ? read.names.map((name) => unread(read, name, refused[i]!)) : [],
  );
  const jobs = reads
    .filter((_, i) => refused[i] === undefined)
    .flatMap((read) => (read.how === 'get' ? read.names.map((name) => ({ ...read, names: [name] })) : [read]));
  let failures = 0;
  const observed = await inParallel(jobs, AT_ONCE, async (job) => {
    if (failures >= MAX_FAILURES) return job.names.map((name) => unread(job, name, 'not read after many failed reads'));
    try {
      return await readJob(cluster, job, labelSelector);
    } catch (error) {
      failures += 1;
      return job.names.map((name) => unread(job, name, reasonOf(error)));
    }
  });
  return inOrder(resources, [...observed.flat(), ...closed, ...beyond]);
}

/** Why the read may not be made. */
async function refusalOf(
  { apiVersion, kind, namespace }: Read,
  cluster: ClusterReader,
  access: AccessReviewer,
  account: UserInfo | undefined,
): Promise<string | undefined> {
  if (!account) return undefined;
  try {
    const resource = (await cluster.resourceOf({ apiVersion, kind }))?.resource;
    // There are no objects of a kind that is not served.
    if (!resource) return undefined;
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : '';
    const may = await access.may(account, { verb: 'get', group, resource, namespace, name: '' });
    return may ? undefined : `not read: ${account.username} may not get ${resource}${namespace && ` in ${namespace}`}`;
  } catch (error) {
    return `not read: what ${account.username} may read is not known: ${reasonOf(error)}`;
  }
}

async function readJob(
  cluster: ClusterReader,
  read: Read,
  labelSelector: string | undefined,
): Promise<ObservedResource[]> {
  const { apiVersion, kind, namespace, names, how } = read;
  const known = await cluster.resourceOf({ apiVersion, kind });
  const found = new Map<string, KubeObject>();
  // A kind that is no longer served has no objects.
  if (known) {
    const ref = { apiVersion, resource: known.resource, ...(namespace && { namespace }) };
    const objects =
      how === 'get' ? await getEach(cluster, ref, names) : await listed(cluster, ref, read, labelSelector);
    for (const object of objects) found.set(object.metadata.name ?? '', object);
  }
  return names.map((name) => {
    const object = found.get(name);
    // Items of a list come without their kind.
    return { apiVersion, kind, namespace, name, ...(object && { object: { ...object, apiVersion, kind } }) };
  });
}

/** By label first: a namespace may have thousands of which these are ten. Then what has not got the labels. */
async function listed(
  cluster: ClusterReader,
  ref: ResourceRef,
  { names, how }: Read,
  labelSelector: string | undefined,
): Promise<KubeObject[]> {
  const list = (selectors: { labelSelector?: string; fieldSelector?: string }) =>
    how === 'metadata' ? cluster.listMetadata({ ...ref, ...selectors }) : cluster.list({ ...ref, ...selectors });
  if (labelSelector === undefined) return list({});
  const labelled = await list({ labelSelector });
  const seen = new Set(labelled.map(({ metadata }) => metadata.name));
  const others = names.filter((name) => !seen.has(name));
  if (others.length >= LIST_FROM) return list({});
  if (how !== 'metadata') return [...labelled, ...(await getEach(cluster, ref, others))];
  for (const name of others) labelled.push(...(await list({ fieldSelector: `metadata.name=${name}` })));
  return labelled;
}

async function getEach(cluster: ClusterReader, ref: ResourceRef, names: readonly string[]): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const name of names) {
    const object = await cluster.get({ ...ref, name });
    if (object) objects.push(object);
  }
  return objects;
}

function unread({ apiVersion, kind, namespace }: Read, name: string, error: string): ObservedResource {
  return { apiVersion, kind, namespace, name, error };
}

/** The first line, cut: it goes into a status that people read. */
function reasonOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}

/** Messages list objects in inventory order, whatever was read first. */
function inOrder(resources: readonly InventoryResource[], observed: readonly ObservedResource[]): ObservedResource[] {
  const key = (r: InventoryResource) => `${r.apiVersion} ${r.kind} ${r.namespace}/${r.name}`;
  const byKey = new Map(observed.map((o) => [key(o), o]));
  return resources.flatMap((r) => byKey.get(key(r)) ?? []);
}
