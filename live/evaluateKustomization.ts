/** Evaluates a HealthCheck of class kustomization, from live reads. */

import type { UserInfo } from '../api/admission.ts';
import { DEPLOYED } from '../api/annotations.ts';
import type { FluxObject, Kustomization } from '../api/flux.ts';
import { KUSTOMIZATIONS, NAMESPACES, ROLLOUTS } from '../api/kinds.ts';
import type { AnyObject, EpochMs, KubeObject, NamespacedName } from '../api/kubernetes.ts';
import type { AccessReviewer, ClusterReader, HookCall, ResourceRef } from '../api/ports.ts';
import type { HealthCheck, Rollout } from '../api/types.ts';
import { howToAllow, mayBeWatched, mayBeWatchedFromElsewhere } from '../core/health/consent.ts';
import { firstFailuresOf, healthyUntil, seenHealthy, type Verdict } from '../core/health/healthStatus.ts';
import {
  appliedSelector,
  applyingAccount,
  LIST_FROM_OBJECTS,
  planReads,
  type Read,
} from '../core/health/inventoryReads.ts';
import { ownHealth, verdictWith } from '../core/health/kustomization.ts';
import { allowedKustomizationRef, gracePeriod } from '../core/health/kustomizationCheck.ts';
import { relatedObjectOf } from '../core/health/objects/behindSource.ts';
import type { HealthContext } from '../core/health/objects/healthContext.ts';
import type { InventoryResource } from '../core/health/objects/inventory.ts';
import { healthWithPods, type PodQuery, podQueries } from '../core/health/objects/pods.ts';
import {
  type ObjectHealth,
  type ObservedResource,
  objectHealths,
  releasedWorkloads,
} from '../core/health/objects/resources.ts';
import { wasDeployedBefore } from '../core/health/revision.ts';
import { LIMITS } from '../core/limits.ts';
import { parseDeployments } from '../core/managedField/deployment.ts';
import { sourceOf, sourceResource } from '../core/managedField/source.ts';
import { shortErrorText } from '../core/text/errorText.ts';
import { inParallel, READS_AT_ONCE } from './inParallel.ts';

/** The maximum age of a Namespace's annotations, whose change triggers no sync. */
const NAMESPACE_MAX_AGE_MS = 60_000;

export interface KnownDeployments {
  /**
   * The Rollouts that the caller has already read. Others that may have deployed into the Kustomization or its source
   * are read.
   */
  rollouts: readonly Rollout[];
  /** The time from which health counts, when the deployment started or was applied; undefined without a deployment. */
  cutoff: EpochMs | undefined;
  /** The most milliseconds between two evaluations of the check while it is Healthy. */
  unseen: number;
}

export async function evaluateKustomization(
  healthCheck: HealthCheck,
  { rollouts, cutoff, unseen }: KnownDeployments,
  call: HookCall,
): Promise<Verdict> {
  const { cluster, access, now, settings } = call;
  const ref = allowedKustomizationRef(healthCheck, settings);
  if ('problem' in ref) return { health: 'Unhealthy', message: ref.problem };
  const { namespace: home = '' } = healthCheck.metadata;
  const read = await orError(readKustomization(cluster, ref));
  if ('error' in read) return unevaluated('Kustomization', read.error);
  const { kustomization, source } = read;
  const needsConsent = ref.namespace !== home && !settings.watchWithoutConsent;
  const consent = needsConsent ? await orError(consents(ref, kustomization, home, call)) : true;
  if (typeof consent === 'object') return unevaluated(`Namespace ${ref.namespace}`, consent.error);
  if (!consent) {
    const message = `Kustomization '${ref.namespace}/${ref.name}' does not exist, or this namespace isn't allowed to watch it: ${howToAllow(home)}`;
    return { health: 'Unhealthy', message, absent: true };
  }
  if (!kustomization) {
    const what = `kustomizations.kustomize.toolkit.fluxcd.io "${ref.name}" not found`;
    return { health: 'Unhealthy', message: `Kustomization not found: ${what}`, absent: true };
  }
  const deployers = await orError(readDeployers(cluster, [kustomization, ...(source ? [source] : [])], rollouts));
  if ('error' in deployers) return { health: 'Unknown', message: `Rollouts could not be read: ${deployers.error}` };
  const observed = { kustomization, source, rollouts: [...rollouts, ...deployers] };
  const context: HealthContext = {
    now,
    cutoff,
    wasDeployedBefore: wasDeployedBefore(observed),
    healthyUntil: healthyUntil(healthCheck.status, now),
    firstFailures: firstFailuresOf(healthCheck.status),
    seenHealthy: seenHealthy(healthCheck.status, unseen, now),
    gracePeriod: gracePeriod(healthCheck),
    ignoresMissing: settings.kuberikCompat ?? false,
  };
  const own = ownHealth(observed, context);
  if ('health' in own) return own;
  const readerFor = (applier: AnyObject): Reader => {
    return { cluster, access, account: applyingAccount(applier, settings.defaultServiceAccount) };
  };
  const reader = readerFor(kustomization);
  // Read after the Kustomization, so that they are at least as new as its status.
  const resources = await readResources(own.inventory.resources, appliedSelector(kustomization), reader);
  const related = await readRelated(resources, reader);
  const applied = objectHealths(resources, { applied: own.applied, related }, context);
  const readers = new Map<ObjectHealth, Reader>();
  const released = await inParallel(releasedWorkloads(applied), async ({ release, workloads }) => {
    const releaseReader = readerFor(release);
    const read = await readResources(workloads, undefined, releaseReader);
    const healths = objectHealths(read, { applied: undefined, related: [] }, context);
    for (const each of healths) readers.set(each, releaseReader);
    return healths;
  });
  const objects = await withPods([...applied, ...released.flat()], (each) => readers.get(each) ?? reader, context);
  return verdictWith(objects, own, context);
}

/** The verdict without having read whether the Kustomization exists. */
function unevaluated(what: string, error: string): Verdict {
  return { health: 'Unknown', message: `${what} could not be read: ${error}`, mayBeAbsent: true };
}

async function consents(
  { namespace: name }: NamespacedName,
  kustomization: Kustomization | undefined,
  from: string,
  { cluster }: HookCall,
): Promise<boolean> {
  if (mayBeWatched(kustomization, from)) return true;
  return mayBeWatched(await cluster.get({ ...NAMESPACES, name }), from);
}

/**
 * Whether a Rollout of another namespace, which the HealthCheck's hook doesn't see, may bake on it; true if the
 * Namespace can't be read.
 */
export async function isWatchedElsewhere(
  healthCheck: HealthCheck,
  { cluster, sharedReads, settings }: HookCall,
): Promise<boolean> {
  if (settings.noCrossNamespaceRefs) return false;
  if (settings.watchWithoutConsent || mayBeWatchedFromElsewhere(healthCheck)) return true;
  const { namespace: name = '' } = healthCheck.metadata;
  const read = (): Promise<KubeObject | undefined> => cluster.get({ ...NAMESPACES, name });
  const namespace = sharedReads.recent(NAMESPACE_MAX_AGE_MS, `namespace ${name}`, read);
  return namespace.then(mayBeWatchedFromElsewhere, () => true);
}

/** The most failed reads: after two rounds that time out, more would time out too, and the sync has to end. */
const MAX_FAILED_READS = 2 * READS_AT_ONCE;

// Live reads of the Pods of workloads in trouble.

interface Reader {
  cluster: ClusterReader;
  access: AccessReviewer;
  /**
   * The account that applies the inventory; undefined if it may read everything. Objects that it can't read aren't
   * read, because any writer of a status can write an inventory.
   */
  account: UserInfo | undefined;
}

/** The objects; the health of those in trouble names the state of their Pods. Never rejects. */
async function withPods(
  objects: readonly ObjectHealth[],
  readerOf: (workload: ObjectHealth) => Reader,
  context: HealthContext,
): Promise<ObjectHealth[]> {
  let failures = 0;
  const found = await inParallel(podQueries(objects), async (query) => {
    const pods = failures < MAX_FAILED_READS ? await readPods(query, readerOf(query.workload)) : undefined;
    if (!pods) failures += 1;
    return [query.workload, pods ? healthWithPods(query, pods, context) : query.workload] as const;
  });
  const shown = new Map(found);
  return objects.map((object) => shown.get(object) ?? object);
}

/** The Pods; undefined if they can't be read: then the verdict follows from the workload's numbers. */
async function readPods(
  { namespace, labelSelector, atMost }: PodQuery,
  { cluster, access, account }: Reader,
): Promise<AnyObject[] | undefined> {
  try {
    const what = { verb: 'list', group: '', resource: 'pods', namespace, name: '' };
    if (account && !(await access.may(account, what))) return undefined;
    return await cluster.list({ apiVersion: 'v1', resource: 'pods', namespace, labelSelector, atMost });
  } catch {
    return undefined;
  }
}

// Live reads: the source, the Rollouts, and the objects of the inventory.

const TOO_MANY_KINDS = `not read: the inventory has more than ${LIMITS.inventoryKinds} kinds and namespaces (limit inventoryKinds)`;

/** What was read, or the text of the error. Never rejects. */
function orError<T>(reading: Promise<T>): Promise<T | { error: string }> {
  return reading.catch((error) => ({ error: shortErrorText(error) }));
}

/** The Kustomization and its source, each undefined if it doesn't exist; the source also if its kind is unknown. */
async function readKustomization(
  cluster: ClusterReader,
  ref: NamespacedName,
): Promise<{ kustomization?: Kustomization; source?: FluxObject }> {
  const kustomization = await cluster.get<Kustomization>({ ...KUSTOMIZATIONS, ...ref });
  return { kustomization, source: kustomization && (await readSource(cluster, kustomization)) };
}

async function readSource(cluster: ClusterReader, kustomization: Kustomization): Promise<FluxObject | undefined> {
  const source = sourceOf(kustomization);
  const resource = source && sourceResource(source);
  if (!source || !resource) return undefined;
  const { apiVersion, namespace, name } = source;
  return cluster.get<FluxObject>({ apiVersion, resource, namespace, name });
}

/** The Rollouts that have deployed into the objects, by their annotations, except the known ones. */
async function readDeployers(
  cluster: ClusterReader,
  objects: readonly FluxObject[],
  known: readonly Rollout[],
): Promise<Rollout[]> {
  const uids = new Set(known.map(({ metadata }) => metadata.uid));
  const refs = new Map<string, NamespacedName>();
  for (const { metadata } of objects) {
    for (const { rollout: name, uid } of parseDeployments(metadata.annotations?.[DEPLOYED])) {
      if (!uids.has(uid)) refs.set(uid, { namespace: metadata.namespace ?? '', name });
    }
  }
  const some = [...refs.values()].slice(0, LIMITS.boundRollouts);
  const found = await inParallel(some, (ref) => cluster.get<Rollout>({ ...ROLLOUTS, ...ref }));
  return found.filter((rollout) => rollout !== undefined);
}

/**
 * The objects of the inventory except Secrets, which are always healthy, and which we should need no right to read.
 * Never rejects.
 * @param labelSelector selects most of the objects
 */
async function readResources(
  resources: readonly InventoryResource[],
  labelSelector: string | undefined,
  reader: Reader,
): Promise<ObservedResource[]> {
  const planned = planReads(resources).filter((read) => read.how !== 'nothing');
  const reads = planned.slice(0, LIMITS.inventoryKinds);
  const beyond = planned
    .slice(LIMITS.inventoryKinds)
    .flatMap((read) => read.names.map((name) => unread(read, name, TOO_MANY_KINDS)));
  const denials = await inParallel(reads, (read) => denialOf(read, reader));
  const forbidden = reads.flatMap((read, i) =>
    denials[i] ? read.names.map((name) => unread(read, name, denials[i]!)) : [],
  );
  const allowed = reads
    .filter((_, i) => denials[i] === undefined)
    .flatMap((read) => (read.how === 'get' ? read.names.map((name) => ({ ...read, names: [name] })) : [read]));
  let failures = 0;
  const observed = await inParallel(allowed, async (read) => {
    if (failures >= MAX_FAILED_READS)
      return read.names.map((name) => unread(read, name, 'skipped, because too many reads had failed'));
    try {
      return await readInventoryObjects(reader.cluster, read, labelSelector);
    } catch (error) {
      failures += 1;
      return read.names.map((name) => unread(read, name, shortErrorText(error)));
    }
  });
  return inInventoryOrder(resources, [...observed.flat(), ...forbidden, ...beyond]);
}

/**
 * Objects outside the inventory on which the health of its objects depends, such as the source of a HelmRelease. One
 * that can't be read is left out. Never rejects.
 */
async function readRelated(resources: readonly ObservedResource[], reader: Reader): Promise<AnyObject[]> {
  const known = new Set(resources.map(keyOf));
  const used = resources.flatMap(({ object }) => (object && relatedObjectOf(object)) ?? []);
  const others = new Map(used.filter((each) => !known.has(keyOf(each))).map((each) => [keyOf(each), each]));
  return (await readResources([...others.values()], undefined, reader)).flatMap(({ object }) => object ?? []);
}

/** Why the account isn't allowed to read these objects; undefined if it is. */
async function denialOf(
  { apiVersion, kind, namespace }: Read,
  { cluster, access, account }: Reader,
): Promise<string | undefined> {
  if (!account) return undefined;
  try {
    const resource = (await cluster.resourceOf({ apiVersion, kind }))?.resource;
    // A kind that isn't served has no objects.
    if (!resource) return undefined;
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : '';
    const may = await access.may(account, { verb: 'get', group, resource, namespace, name: '' });
    return may
      ? undefined
      : `not read: ${account.username} isn't allowed to get ${resource}${namespace && ` in ${namespace}`}`;
  } catch (error) {
    return `not read: couldn't check the rights of ${account.username}: ${shortErrorText(error)}`;
  }
}

/** The objects of one read, each found or not. */
async function readInventoryObjects(
  cluster: ClusterReader,
  read: Read,
  labelSelector: string | undefined,
): Promise<ObservedResource[]> {
  const { apiVersion, kind, namespace, names, how } = read;
  const known = await cluster.resourceOf({ apiVersion, kind });
  const found = new Map<string, KubeObject>();
  // A kind that isn't served anymore has no objects.
  if (known) {
    const ref = { apiVersion, resource: known.resource, ...(namespace && { namespace }) };
    const objects =
      how === 'get' ? await getEach(cluster, ref, names) : await listObjects(cluster, ref, read, labelSelector);
    for (const object of objects) found.set(object.metadata.name ?? '', object);
  }
  return names.map((name) => {
    const object = found.get(name);
    // Items of a list come without their kind.
    return { apiVersion, kind, namespace, name, object: object && { ...object, apiVersion, kind } };
  });
}

/**
 * Reads a few objects by name. Lists more by label, because ten of a namespace's thousands of objects may be in the
 * inventory, and then reads those without the labels.
 */
async function listObjects(
  cluster: ClusterReader,
  ref: ResourceRef,
  { names, how }: Read,
  labelSelector: string | undefined,
): Promise<KubeObject[]> {
  const list = (selectors: { labelSelector?: string; fieldSelector?: string }) =>
    how === 'metadata' ? cluster.listMetadata({ ...ref, ...selectors }) : cluster.list({ ...ref, ...selectors });
  const readByName = async (wanted: readonly string[]): Promise<KubeObject[]> => {
    if (how !== 'metadata') return getEach(cluster, ref, wanted);
    const found = wanted.map((name) => list({ fieldSelector: `metadata.name=${name}` }));
    return (await Promise.all(found)).flat();
  };
  if (names.length < LIST_FROM_OBJECTS) return readByName(names);
  if (labelSelector === undefined) return list({});
  const labelled = await list({ labelSelector });
  const seen = new Set(labelled.map(({ metadata }) => metadata.name));
  const others = names.filter((name) => !seen.has(name));
  if (others.length >= LIST_FROM_OBJECTS) return list({});
  return [...labelled, ...(await readByName(others))];
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

/** The observed resources in the order of the inventory, for messages. */
function inInventoryOrder(
  resources: readonly InventoryResource[],
  observed: readonly ObservedResource[],
): ObservedResource[] {
  const byKey = new Map(observed.map((each) => [keyOf(each), each]));
  return resources.flatMap((each) => byKey.get(keyOf(each)) ?? []);
}

function keyOf({ apiVersion, kind, namespace, name }: InventoryResource): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}
