/**
 * The proof that Flux has fetched and applied a deployment. It comes from the object's status, because the spec alone
 * proves nothing. A HelmRelease has no managed field: the Rollout manages the OCIRepository of its `spec.chartRef`, and
 * helm-controller releases the fetched artifact and reports it (docs/facts.md, F14).
 */
import { AWAITS_ARTIFACT, BOUND_ROLLOUT, DEPLOYED } from '../../api/annotations.ts';
import { READY } from '../../api/conditions.ts';
import type { Artifact, FluxObject } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { DeploymentRef, FluxBinding, FluxBindingSpec } from '../../api/types.ts';
import { fieldAt, stringAt } from '../kstatus/fields.ts';
import { findCondition } from '../kube/conditions.ts';
import { parseDuration } from '../kube/duration.ts';
import { parseTime } from '../kube/time.ts';
import { lastSpecChange } from '../kube/writers.ts';
import { isSameDeployment, isSameVersion, parseDeployments } from '../managedField/deployment.ts';
import { managedFieldsOf, readManagedField, rolloutsOfObject } from '../managedField/managedFields.ts';
import {
  boundedRevision,
  fetchedRevision,
  isCurrent,
  isOfTag,
  namesArtifact,
  releasedDigest,
} from '../managedField/source.ts';

/** The kind that follows a Rollout without a managed field. */
export const TRACKING_KIND: string = KINDS.HelmRelease.kind;

type ObservedDeployments = NonNullable<FluxBindingSpec['observed']>;

/** Whether the list has the deployment. */
export function includesDeployment(
  deployments: readonly DeploymentRef[] | undefined,
  deployment: DeploymentRef,
): boolean {
  return (deployments ?? []).some((each) => isSameDeployment(each, deployment));
}

/**
 * Whether the object's status proves that Flux has applied the deployment:
 *
 * - a HelmRelease has released the artifact that its source has fetched of the deployment;
 * - a bound OCIRepository has fetched the tag;
 * - a bound Kustomization has applied its source's newest artifact, and if the same Rollout manages that source too,
 *   this artifact is the deployment's. Another source, such as a Git repository with many commits, may have a newer
 *   artifact before each apply ends: then the second artifact that is applied with the deployment is the proof.
 */
export function provesApply(
  { metadata, spec }: FluxBinding,
  source: FluxObject | undefined,
  deployment: DeploymentRef,
): boolean {
  const observed = spec?.observed;
  if (spec?.target.kind === TRACKING_KIND) {
    return source !== undefined && hasFetched(source, deployment) && isArtifactOf(source, observed?.applied);
  }
  if (!observed || !includesDeployment(observed.deployed, deployment)) return false;
  if (spec.target.kind === 'OCIRepository') return isOfTag(observed.fetched, deployment.version);
  if (observed.applied === undefined) return false;
  // A source of an unknown kind can't be compared, so Flux's report suffices.
  if (!spec.source) return true;
  if (!source) return false;
  const isNewest = (source.status?.artifact as Artifact | undefined)?.revision === observed.applied;
  const isOfSameNamespace = spec.source.namespace === metadata.namespace;
  const isManaged = isOfSameNamespace && rolloutsOfObject(source).includes(deployment.rollout);
  return isManaged ? isNewest && hasFetched(source, deployment) : isNewest || observed.reapplied === true;
}

/** Whether a HelmRelease reports the artifact of its source. */
function isArtifactOf(source: FluxObject, applied: string | undefined): boolean {
  const revision = fetchedRevision(source);
  return revision !== undefined && applied !== undefined && namesArtifact(applied, revision);
}

function hasFetched(source: FluxObject, deployment: DeploymentRef): boolean {
  return (
    includesDeployment(parseDeployments(source.metadata.annotations?.[DEPLOYED]), deployment) &&
    isOfTag(fetchedRevision(source), deployment.version)
  );
}

/** Why a HelmRelease with this source can't have a version of the Rollout. */
export function missingSourceText(
  { source: ref }: Pick<FluxBindingSpec, 'source'>,
  source: FluxObject | undefined,
  rollout: string,
): string | undefined {
  if (!ref) return undefined;
  const name = `${ref.kind} '${ref.name}'`;
  if (!source) return `${name} does not exist`;
  if (rolloutsOfObject(source).includes(rollout)) return undefined;
  return `${name} is not bound to that Rollout: annotate it with ${BOUND_ROLLOUT}=${rollout}`;
}

/**
 * The observation of the object's deployments for its FluxBinding's spec: with the proof from Flux, or without proof if
 * the object is suspended. Each change costs a write and a sync of everything related. So the last observation stays
 * while Flux is applying, and, once the FluxBinding's status has the proof, also when Flux applies later revisions.
 */
export function observedOf(object: FluxObject, binding: FluxBinding | undefined): ObservedDeployments {
  const proof = proofOf(object);
  // A HelmRelease carries no deployment in an annotation: the released artifact identifies its deployment.
  if (object.kind === TRACKING_KIND) return proof ?? {};
  const carried = parseDeployments(object.metadata.annotations?.[DEPLOYED]);
  const deployed = proof ? carried.filter((each) => hasVersion(object, each)) : carried;
  const seen: ObservedDeployments = { ...(deployed.length > 0 && { deployed }), ...proof };
  // A binding of an earlier object of this name doesn't count for this one.
  if (binding?.spec?.target.uid !== object.metadata.uid) return seen;

  const before = binding?.spec?.observed ?? {};
  const isAsBefore = areSame(before.deployed ?? [], deployed);
  if (proof) {
    const isLatched = deployed.every((deployment) => includesDeployment(binding?.status?.applied, deployment));
    if (isAsBefore && isLatched) return before;
    const isOther = before.applied !== undefined && before.applied !== proof.applied;
    return { ...seen, ...(isAsBefore && (before.reapplied || isOther) && { reapplied: true }) };
  }
  const isComing = object.spec?.suspend !== true || object.metadata.annotations?.[AWAITS_ARTIFACT] !== undefined;
  return isAsBefore || isComing ? before : seen;
}

/**
 * Whether the object's managed fields have the version of the deployment. While the API server doesn't call the
 * webhook, the decorator's write stores the annotation alone.
 */
function hasVersion(object: FluxObject, { rollout, version }: DeploymentRef): boolean {
  const fields = managedFieldsOf(object).fields.filter((field) => field.rollout === rollout);
  return fields.every((field) => readManagedField(object, field) === version);
}

/**
 * The revision that the object has fetched, or has applied with its current spec and found ready (docs/facts.md, F8).
 * undefined for a suspended object, whose Ready may be out of date.
 */
function proofOf(object: FluxObject): ObservedDeployments | undefined {
  const { kind, metadata, spec, status } = object;
  if (kind === 'OCIRepository') {
    const fetched = fetchedRevision(object);
    return fetched === undefined ? undefined : { fetched };
  }
  const ready = findCondition(status?.conditions, READY);
  if (spec?.suspend === true || !isCurrent(object)) return undefined;
  const isProven = ready?.status === 'True' || (ready?.status === 'Unknown' && keepsProof(object));
  if (!isProven || ready.observedGeneration !== metadata.generation) return undefined;
  const revision = kind === 'Kustomization' ? boundedRevision(status?.lastAppliedRevision) : undefined;
  const applied = kind === TRACKING_KIND ? releasedDigest(object) : revision;
  return applied === undefined ? undefined : { applied };
}

/**
 * Whether the object still has the revision of its present spec while Flux works on the next one: Flux has observed the
 * generation, and its last attempt has succeeded and began after the last write. Trap: Flux also observes a generation
 * that it has not applied, for example when it adds its finalizer, or if a `readyExpr` fails.
 */
function keepsProof(object: FluxObject): boolean {
  const last = object.kind === 'Kustomization' ? fieldAt(object, ['status', 'history', 0]) : undefined;
  const ended = parseTime(stringAt(last, ['lastReconciled']));
  const took = parseDuration(stringAt(last, ['lastReconciledDuration']));
  if (ended === undefined || took === undefined) return false;
  const hasSucceeded = stringAt(last, ['lastReconciledStatus']) === 'ReconciliationSucceeded';
  return hasSucceeded && ended - took > (lastSpecChange(object) ?? ended);
}

/** Whether both lists have the same deployments. */
function areSame(before: readonly DeploymentRef[], now: readonly DeploymentRef[]): boolean {
  return (
    before.length === now.length && now.every((deployment) => before.some((each) => isSameVersion(each, deployment)))
  );
}
