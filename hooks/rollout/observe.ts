/** The inputs of a Rollout's plan: related objects from Metacontroller's caches; consent, children and Jobs live. */
import { WATCHED_FROM } from '../../api/annotations.ts';
import type { ImagePolicy, ImageRepository } from '../../api/flux.ts';
import { HEALTH_CHECKS, KINDS, NAMESPACES } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { CompositeRequest } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall, ReleaseMetadata, Settings } from '../../api/ports.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { healthCheckLabels } from '../../core/health/association.ts';
import { mayBeWatched } from '../../core/health/consent.ts';
import { countedFor } from '../../core/health/job/checkJob.ts';
import { byRefKey } from '../../core/kube/names.ts';
import { objectAt, objectsOf, sendsKind } from '../../core/kube/objectMap.ts';
import { toSelectorString } from '../../core/kube/selector.ts';
import { LIMITS } from '../../core/limits.ts';
import { writeBackName } from '../../core/policy/derivedPolicy.ts';
import { policyRef, repositoryRef } from '../../core/policy/imagePolicy.ts';
import type { Copying, CopyJob, CopySource } from '../../core/releaseCopy/job.ts';
import {
  foreignRefProblems,
  type Observed,
  specProblems,
  withoutForeignRefs,
} from '../../core/rollout/evaluation/inputs.ts';
import { requiredGatesOf } from '../../core/rollout/evaluation/requiredGates.ts';
import { authorsWanted } from '../../core/rollout/evaluation/versionApprovals.ts';
import { configMapChild, policyChild } from '../../core/rollout/ownedObjects.ts';
import { metadataWanted } from '../../core/rollout/release/metadata.ts';
import { untrustedMatchProblems } from '../../core/rollout/upstream/dependencies.ts';
import { inParallel } from '../../live/inParallel.ts';
import { listKept } from '../../live/objectReads.ts';
import { homeLabels } from '../customizeRules.ts';
import { JOB, podsOfJob } from '../jobPods.ts';
import { childProblem, liveImagePolicy, upstreamOf } from './liveReads.ts';
import { servedVersion } from './relatedRules.ts';

/** The Rollout, without the references that this installation forbids. */
export function withAllowedRefs(rollout: Rollout, { noCrossNamespaceRefs }: Settings): Rollout {
  return noCrossNamespaceRefs ? withoutForeignRefs(rollout) : rollout;
}

export async function observe(request: CompositeRequest<Rollout>, call: HookCall): Promise<Observed> {
  const { parent: rollout, related } = request;
  const { namespace = '' } = rollout.metadata;
  const reached = withAllowedRefs(rollout, call.settings);
  const ref = policyRef(reached);
  const imagePolicy = ref
    ? (objectAt<ImagePolicy>(related, KINDS.ImagePolicy, ref.namespace, ref.name) ??
      (await liveImagePolicy(reached, call.cluster)))
    : undefined;
  const forbidden = call.settings.noCrossNamespaceRefs ? foreignRefProblems(rollout) : [];
  const untrusted = call.settings.trustPublishers ? [] : untrustedMatchProblems(rollout);
  const relatedGates = objectsOf<Gate>(related, KINDS.Gate);
  const gates = byRefKey(relatedGates);
  const rolloutGates = objectsOf<RolloutGate>(related, KINDS.RolloutGate);
  const namespaceLabels = await homeLabels(namespace, related, relatedGates, call.cluster);
  const watched = await watchedChecks(rollout, objectsOf<HealthCheck>(related, KINDS.HealthCheck), call);
  const upstream = await upstreamOf(reached, call, objectsOf<Rollout>(related, KINDS.Rollout));
  const copying = await copyingOf(request, imagePolicy, call);
  const derivedPolicy = objectAt<ImagePolicy>(
    request.children,
    KINDS.ImagePolicy,
    namespace,
    writeBackName(rollout) ?? '',
  );
  const writeBackProblem = await childProblem(policyChild(rollout), request, call.cluster);
  return {
    rollout,
    imagePolicy,
    ...(copying && { copying }),
    derivedPolicy,
    writeBackProblem,
    rolloutGates,
    bindings: objectsOf<FluxBinding>(related, KINDS.FluxBinding),
    ...watched,
    healthChecks: watched.healthChecks.map((check) => countedFor(rollout, check)),
    problems: [...forbidden, ...untrusted, ...watched.problems, ...(writeBackProblem ? [writeBackProblem] : [])],
    gateRefs: requiredGatesOf([reached], [], { gates: relatedGates, namespaceLabels }),
    gates,
    ...(upstream && { upstream }),
    ...metadataOf(rollout, imagePolicy, authorsWanted(rolloutGates, gates, rollout), call),
    configMapProblem: await childProblem(configMapChild(rollout), request, call.cluster),
    onFailure: call.settings.onFailure,
    likeKuberik: call.settings.likeKuberik,
  };
}

/** Metadata of the releases that a decision asks about, by tag, and the tags whose metadata may still come. */
export function metadataOf(
  rollout: Rollout,
  policy: ImagePolicy | undefined,
  others: readonly string[],
  { metadata: cache }: HookCall,
): Required<Pick<Observed, 'metadata' | 'awaited'>> {
  const ref = policyRef(rollout);
  const repository = policy && repositoryRef(policy);
  if (!ref || !repository) return { metadata: {}, awaited: [] };
  const image = policy.status?.latestRef?.name;
  const { namespace = '' } = rollout.metadata;
  const found: Record<string, ReleaseMetadata> = {};
  const awaited: string[] = [];
  for (const wanted of metadataWanted(rollout, policy, others)) {
    const lookup = { policy: ref, repository, namespace, ...wanted, ...(image && { image }) };
    const metadata = cache.lookup(lookup);
    if (metadata) found[wanted.tag] = metadata;
    else if (cache.isAwaited(lookup)) awaited.push(wanted.tag);
  }
  return { metadata: found, awaited };
}

// Copies to spec.targetRepository.

/**
 * The most Pods of a Job that are read. A Job starts fewer, but any user who may create Pods may give others its label.
 */
const MAX_PODS_READ = 20;

/** The inputs of the Rollout's copies; undefined without spec.targetRepository. */
async function copyingOf(
  { parent: rollout, children }: CompositeRequest<Rollout>,
  policy: ImagePolicy | undefined,
  { cluster, settings }: HookCall,
): Promise<Copying | undefined> {
  if (!rollout.spec?.targetRepository || rollout.metadata.deletionTimestamp) return undefined;
  const image = settings.copyImage ?? '';
  const jobs = objectsOf<CopyJob>(children, JOB);
  if (!sendsKind(children, JOB) || image === '') {
    const problem = 'the component release-copies is not installed';
    return { problem, image, jobs: [], pods: {} };
  }
  const source = policy && (await sourceOf(rollout, policy, cluster));
  const ended = jobs.filter(({ status }) => status?.failed > 0 || status?.conditions?.length > 0);
  const pods = await Promise.all(
    ended.map(async (job) => [job.metadata.name ?? '', await podsOf(job, cluster)] as const),
  );
  const { allowLocalRegistries = false } = settings;
  return { image, allowLocalRegistries, ...(source && { source }), jobs, pods: Object.fromEntries(pods) };
}

async function sourceOf(
  rollout: Rollout,
  policy: ImagePolicy,
  cluster: ClusterReader,
): Promise<CopySource | undefined> {
  const ref = repositoryRef(policy);
  const apiVersion = ref && (await servedVersion('ImageRepository', cluster));
  if (!apiVersion) return undefined;
  const { resource } = KINDS.ImageRepository;
  const { image, insecure, secretRef, certSecretRef } =
    (await cluster.get<ImageRepository>({ apiVersion, resource, ...ref }))?.spec ?? {};
  if (!image) return undefined;
  // A Pod mounts Secrets of its own namespace only.
  const isOurs = ref.namespace === rollout.metadata.namespace;
  return {
    image,
    ...(insecure && { insecure }),
    ...(isOurs && secretRef?.name && { secret: secretRef.name }),
    ...(isOurs && certSecretRef?.name && { certificates: certSecretRef.name }),
  };
}

/** The Job's Pods, the oldest first. */
async function podsOf(job: CopyJob, cluster: ClusterReader): Promise<CopyJob[]> {
  const madeAt = ({ metadata }: CopyJob) => metadata.creationTimestamp ?? '';
  return (await podsOfJob(job, MAX_PODS_READ, cluster)).sort((a, b) => (madeAt(a) < madeAt(b) ? -1 : 1));
}

// Which HealthChecks a Rollout watches: those of its namespace, and of other namespaces those that consent.

/** How old these lists may be: any tenant can have many Rollouts watch all namespaces. */
const WATCHED_MAX_AGE_MS = 1000;

interface WatchedChecks {
  healthChecks: HealthCheck[];
  /** The number of HealthChecks that the selector matches and that have not consented. */
  healthLeftOut: number;
  problems: string[];
}

/** The metadata of a HealthCheck or Namespace by which it consents to be watched. */
interface ConsentMetadata {
  metadata: { name: string; namespace?: string; annotations: Record<string, string> };
}

/**
 * The HealthChecks that the Rollout watches. Those of other namespaces are read live: without consent they must not
 * make a request of Metacontroller too large.
 * @param related the HealthChecks that Metacontroller has sent
 */
async function watchedChecks(
  rollout: Rollout,
  related: readonly HealthCheck[],
  call: Pick<HookCall, 'cluster' | 'settings' | 'sharedReads'>,
): Promise<WatchedChecks> {
  const { metadata, spec } = rollout;
  const { namespace: home = '' } = metadata;
  const own = related.filter((check) => check.metadata.namespace === home);
  const labels = healthCheckLabels(spec?.healthCheckSelector);
  const namespaceSelector = spec?.healthCheckSelector?.namespaceSelector;
  const reachesOut = namespaceSelector && labels && !call.settings.noCrossNamespaceRefs;
  if (!reachesOut || specProblems(spec ?? {}).length > 0) return withinLimit(own, [], 0, call.cluster);

  const namespaces = await listedNamespaces(toSelectorString(namespaceSelector), call);
  const inHome = namespaces.has(home) ? own : [];
  const others = [...namespaces.keys()].filter((name) => name !== home);
  const found = await listedChecks(toSelectorString(labels), others, call);
  if (!found) {
    const problem = `spec.healthCheckSelector matches more than ${LIMITS.listedHealthChecks} HealthChecks (limit listedHealthChecks) and ${others.length} other namespaces, more than ${LIMITS.watchedNamespaces} (limit watchedNamespaces): narrow its namespaceSelector`;
    return { healthChecks: inHome, healthLeftOut: 0, problems: [problem] };
  }
  const consenting = found.filter(
    (check) =>
      call.settings.watchWithoutConsent ||
      mayBeWatched(check, home) ||
      mayBeWatched(namespaces.get(check.metadata.namespace ?? ''), home),
  );
  return withinLimit(inHome, consenting, found.length - consenting.length, call.cluster);
}

/** The HealthChecks, those of other namespaces read; beyond the limit only the Rollout's own, with the problem. */
async function withinLimit(
  own: HealthCheck[],
  consenting: readonly ConsentMetadata[],
  healthLeftOut: number,
  cluster: ClusterReader,
): Promise<WatchedChecks> {
  const count = own.length + consenting.length;
  if (count > LIMITS.watchedHealthChecks) {
    const problem = `spec.healthCheckSelector matches ${count} HealthChecks, more than ${LIMITS.watchedHealthChecks} (limit watchedHealthChecks): narrow it`;
    return { healthChecks: own, healthLeftOut, problems: [problem] };
  }
  const read = await inParallel(consenting, ({ metadata: { name, namespace = '' } }) =>
    cluster.get<HealthCheck>({ ...HEALTH_CHECKS, namespace, name }),
  );
  return { healthChecks: [...own, ...read.filter((check) => check !== undefined)], healthLeftOut, problems: [] };
}

function listedNamespaces(
  labelSelector: string,
  { cluster, sharedReads }: Pick<HookCall, 'cluster' | 'sharedReads'>,
): Promise<ReadonlyMap<string, ConsentMetadata>> {
  return sharedReads.recent(WATCHED_MAX_AGE_MS, `consenting namespaces ${labelSelector}`, async () => {
    const listed = await cluster.listMetadata({ ...NAMESPACES, labelSelector });
    return new Map(listed.map((each) => [each.metadata.name ?? '', consentMetadata(each)]));
  });
}

/**
 * The HealthChecks in these namespaces that have the labels: from one list for the cluster, or, if that is cut off,
 * from one list for each namespace, so that none crowds out the others. undefined if those would be too many lists.
 */
async function listedChecks(
  labelSelector: string,
  namespaces: readonly string[],
  { cluster, sharedReads }: Pick<HookCall, 'cluster' | 'sharedReads'>,
): Promise<ConsentMetadata[] | undefined> {
  const list = (namespace?: string) => {
    const ref = {
      ...HEALTH_CHECKS,
      labelSelector,
      ...(namespace !== undefined && { namespace }),
      metadataOnly: true as const,
    };
    const read = () => listKept(ref, consentMetadata, cluster, { atMost: LIMITS.listedHealthChecks });
    return sharedReads.recent(WATCHED_MAX_AGE_MS, `healthchecks ${namespace ?? ''} ${labelSelector}`, read);
  };
  if (namespaces.length === 0) return [];
  const { listed, isTruncated } = await list();
  const selected = new Set(namespaces);
  if (!isTruncated) return listed.filter(({ metadata }) => selected.has(metadata.namespace ?? ''));
  if (namespaces.length > LIMITS.watchedNamespaces) return undefined;
  return (await inParallel(namespaces, list)).flatMap((each) => each.listed);
}

function consentMetadata({
  metadata: { name = '', namespace, annotations },
}: Pick<KubeObject, 'metadata'>): ConsentMetadata {
  const watchedFrom = annotations?.[WATCHED_FROM];
  return {
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      annotations: watchedFrom === undefined ? {} : { [WATCHED_FROM]: watchedFrom },
    },
  };
}
