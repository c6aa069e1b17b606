/** What a FluxBinding reports of its object's deployments. Each change is a write and a sync of everything related. */
import { AWAITS_ARTIFACT, DEPLOYED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { DeploymentRef, FluxBinding, FluxBindingSpec } from '../../api/types.ts';
import { isSameVersion, parseDeployments } from '../admission/managedFields/deployment.ts';
import { bounded, fetchedRevision, isCurrent } from '../admission/managedFields/fetched.ts';
import { findCondition } from '../kube/conditions.ts';
import { carries } from './arrival.ts';
import { releasedDigest, TRACKING_KIND } from './helmRelease.ts';

type Observed = NonNullable<FluxBindingSpec['observed']>;

/**
 * A deployment is reported together with Flux's proof of it, or when the object is suspended and no proof will come. The last
 * report stands while Flux is at work, and once the proof is latched in the status: a new commit changes nothing.
 */
export function observedOf(object: FluxObject, binding: FluxBinding | undefined): Observed {
  const deployed = parseDeployments(object.metadata.annotations?.[DEPLOYED]);
  const proof = proofOf(object);
  // Nothing on it says which deployment it carries, to tell an old proof from a new one: a proof goes with what it proves.
  if (object.kind === TRACKING_KIND) return proof ?? {};
  const seen: Observed = { ...(deployed.length > 0 && { deployed }), ...proof };
  // A binding of an earlier object of this name says nothing about this one.
  if (binding?.spec?.target.uid !== object.metadata.uid) return seen;

  const before = binding?.spec?.observed ?? {};
  const isAsBefore = areSame(before.deployed ?? [], deployed);
  if (proof) {
    const isLatched = deployed.every((deployment) => carries(binding?.status?.applied, deployment));
    return isAsBefore && isLatched ? before : seen;
  }
  const isComing = object.spec?.suspend !== true || object.metadata.annotations?.[AWAITS_ARTIFACT] !== undefined;
  return isAsBefore || isComing ? before : seen;
}

function proofOf(object: FluxObject): Observed | undefined {
  const fetched = object.kind === 'OCIRepository' ? fetchedRevision(object) : undefined;
  if (fetched !== undefined) return { fetched };
  const applied = object.kind === TRACKING_KIND ? releasedDigest(object) : appliedRevision(object);
  return applied === undefined ? undefined : { applied };
}

/** The revision a Kustomization applied with its current spec, and found ready (docs/facts.md, F8). A suspended one only looks so. */
function appliedRevision(object: FluxObject): string | undefined {
  const { metadata, spec, status } = object;
  const ready = findCondition(status?.conditions, 'Ready');
  if (object.kind !== 'Kustomization') return undefined;
  if (spec?.suspend === true || !isCurrent(object)) return undefined;
  if (ready?.status !== 'True' || ready.observedGeneration !== metadata.generation) return undefined;
  return bounded(status?.lastAppliedRevision);
}

function areSame(before: readonly DeploymentRef[], now: readonly DeploymentRef[]): boolean {
  return (
    before.length === now.length && now.every((deployment) => before.some((each) => isSameVersion(each, deployment)))
  );
}
