/**
 * Atomic updates: a tag and variables of one Rollout that must be applied together.
 * One Rollout may set both variables of a Kustomization and the tag of the OCIRepository that it applies. Then the
 * variables follow the version that the OCIRepository has fetched, not the Rollout's: manifests of one version are
 * never applied with the variable of another. Three parts (ADR 26):
 *
 * - the variables change when the source has fetched the deployment, in one write (setManagedFields.ts);
 * - until then the Kustomization is suspended, so that it does not try the new artifact with the old variables
 *   (core/suspension/suspension.ts). If the source cannot fetch, it continues with its current artifact;
 * - the API server's policy (manifests/policies/whole-versions.yaml) denies an attempt at another artifact than the
 *   annotation ARTIFACT allows, in whatever order caches are updated. It also denies an attempt by a controller that
 *   has not read the suspension yet: the suspension comes with a request to reconcile, which the controller echoes.
 */
import { ARTIFACT, AWAITS_ARTIFACT, RECONCILE_REQUESTED_AT } from '../../api/annotations.ts';
import { READY } from '../../api/conditions.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { DeploymentRef, ManagedField, Rollout } from '../../api/types.ts';
import { annotate, annotateAll } from '../kube/annotate.ts';
import { findCondition } from '../kube/conditions.ts';
import { MAX_TAG_CHARACTERS } from '../kube/tag.ts';
import { deploymentOf, deploymentsOn, formatDeployments, isSameVersion, isSetByGit } from './deployment.ts';
import { managedFieldsOf } from './managedFields.ts';
import { fetchedRevision, isOfTag, storedRevision } from './source.ts';

/** The progress of a Kustomization whose variables and whose source's tag one Rollout sets. */
export interface AtomicUpdate {
  /** The Rollout that manages both. */
  rollout: string;
  /** The newest deployment of the Rollout. */
  head?: DeploymentRef;
  /** The deployment that the source has fetched: the variables follow this. */
  fetched?: DeploymentRef;
  /** The deployment that the source is fetching: the Kustomization is suspended until the source has it. */
  awaits?: DeploymentRef;
  /** Why the source does not fetch the newest deployment: the Kustomization continues with its current artifact. */
  stuck?: string;
  /** The tag whose artifact may be applied; undefined while variables and tag stay as they are. */
  artifact?: string;
}

/**
 * The atomic update of a Kustomization; undefined if no Rollout manages both, or Git sets the fields.
 * @param fields the managed fields of the Kustomization
 * @param source the source in `spec.sourceRef`, in the same namespace; at most one Rollout manages its tag
 */
export function atomicUpdate(
  fields: readonly ManagedField[],
  rollouts: ReadonlyMap<string, Rollout>,
  source: FluxObject | undefined,
): AtomicUpdate | undefined {
  const owner = source && managedFieldsOf(source).fields.find((field) => field.variable === undefined)?.rollout;
  if (!owner || !fields.some((field) => field.rollout === owner) || isSetByGit(rollouts.get(owner))) return undefined;
  const carried = deploymentsOn(source).get(owner);
  const head = deploymentOf(rollouts.get(owner));
  const isFetched = carried && isOfTag(fetchedRevision(source), carried.version);
  const update: AtomicUpdate = { rollout: owner, head, fetched: isFetched ? carried : undefined };
  if (isFetched) update.artifact = carried.version;
  else if (!carried && !head) update.artifact = artifactBefore(source);
  if (!head || (isFetched && isSameVersion(carried, head))) return update;
  const stuck = whyStuck(source, head);
  return { ...update, ...(stuck === undefined ? { awaits: head } : { stuck }) };
}

/**
 * The tag of the artifact that the source has stored (`<tag>@<digest>`). An object without an earlier atomic update may
 * continue with that artifact. Empty if nothing is stored: then no artifact may be applied.
 */
function artifactBefore(source: FluxObject | undefined): string {
  const tag = (source && storedRevision(source))?.split('@', 1)[0] ?? '';
  return tag.length <= MAX_TAG_CHARACTERS ? tag : '';
}

/** The cause that may keep the source from fetching the deployment for long; undefined if it is about to fetch it. */
function whyStuck(source: FluxObject, head: DeploymentRef): string | undefined {
  const { metadata, spec, status } = source;
  if (metadata.deletionTimestamp) return 'is being deleted';
  if (spec?.suspend === true) return 'is suspended';
  const tag = (spec?.ref as { tag?: unknown } | undefined)?.tag;
  if (tag !== head.version) return undefined;
  const failed = findCondition(status?.conditions, 'FetchFailed') ?? findCondition(status?.conditions, READY);
  const isAboutThis = failed?.observedGeneration === metadata.generation;
  const isFailure = failed?.type === 'FetchFailed' ? failed.status === 'True' : failed?.status === 'False';
  return isAboutThis && isFailure ? `cannot fetch it (${failed?.reason})` : undefined;
}

// The annotations that a write of the Kustomization gets.

/** The prefix of our requests to reconcile; manifests/policies/whole-versions.yaml reads it. */
const REQUEST_PREFIX = 'rollout-hooks/';

/** The object with our annotations of the atomic update; without these annotations if there is no atomic update. */
export function withArtifact(
  object: FluxObject,
  old: FluxObject | undefined,
  source: FluxObject | undefined,
  atomic: AtomicUpdate | undefined,
): FluxObject {
  if (!atomic) return annotateAll(object, { [ARTIFACT]: undefined, [AWAITS_ARTIFACT]: undefined });
  const before = old ? old.metadata.annotations?.[ARTIFACT] : atomic.head?.version;
  const next = annotateAll(object, {
    [ARTIFACT]: atomic.artifact ?? before ?? artifactBefore(source),
    [AWAITS_ARTIFACT]: atomic.awaits && formatDeployments([atomic.awaits]),
  });
  if (!old) return next;
  const request = mustBeReadBeforeActing(next, old) ? reconcileRequestOf(old) : unhandledRequest(old);
  return request === undefined ? next : annotate(next, RECONCILE_REQUESTED_AT, request);
}

/**
 * Whether kustomize-controller must read this write before it acts: the write suspends for a version, or changes the
 * allowed artifact without an earlier suspension.
 */
function mustBeReadBeforeActing(object: FluxObject, old: FluxObject): boolean {
  const [now, before] = [object.metadata.annotations ?? {}, old.metadata.annotations ?? {}];
  if (now[AWAITS_ARTIFACT] !== undefined) return now[AWAITS_ARTIFACT] !== before[AWAITS_ARTIFACT];
  return before[ARTIFACT] !== undefined && now[ARTIFACT] !== before[ARTIFACT] && before[AWAITS_ARTIFACT] === undefined;
}

/**
 * The value by which this write requests a reconciliation. kustomize-controller echoes it in
 * `status.lastHandledReconcileAt` once it has read the write, even while the object is suspended. Until then it may act
 * on an older version of the object, and the policy denies it any new attempt.
 */
function reconcileRequestOf({ metadata }: FluxObject): string {
  return `${REQUEST_PREFIX}${metadata.generation ?? 0}`;
}

/**
 * Our request to reconcile, until Flux echoes it: if another request replaced it, the policy would stop waiting too
 * early.
 */
export function unhandledRequest({ metadata, status }: FluxObject): string | undefined {
  const requested = metadata.annotations?.[RECONCILE_REQUESTED_AT];
  return requested?.startsWith(REQUEST_PREFIX) && requested !== status?.lastHandledReconcileAt ? requested : undefined;
}
