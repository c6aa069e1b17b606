/** Whether a deployment has arrived: fetched and applied by Flux, not merely written into the object. */
import { DEPLOYED } from '../../api/annotations.ts';
import type { Artifact, FluxObject } from '../../api/flux.ts';
import type { DeploymentRef, FluxBinding } from '../../api/types.ts';
import { pinAnnotationsOf } from '../admission/managedFields/annotations.ts';
import { isSameDeployment, parseDeployments } from '../admission/managedFields/deployment.ts';
import { fetchedRevision, isOfTag } from '../admission/managedFields/fetched.ts';
import { TRACKING_KIND } from './helmRelease.ts';

export function carries(deployments: readonly DeploymentRef[] | undefined, deployment: DeploymentRef): boolean {
  return (deployments ?? []).some((s) => isSameDeployment(s, deployment));
}

/**
 * A HelmRelease has released what its source has fetched of the deployment; a pinned OCIRepository has fetched the tag; a pinned Kustomization has applied its source's newest artifact, and where
 * the same Rollout pins that source too, this artifact is the deployment's.
 */
export function hasArrived(
  { metadata, spec }: FluxBinding,
  source: FluxObject | undefined,
  deployment: DeploymentRef,
): boolean {
  const observed = spec?.observed;
  if (spec?.target.kind === TRACKING_KIND) {
    return source !== undefined && hasFetched(source, deployment) && isArtifactOf(source, observed?.applied);
  }
  if (!observed || !carries(observed.deployed, deployment)) return false;
  if (spec.target.kind === 'OCIRepository') return isOfTag(observed.fetched, deployment.version);
  if (observed.applied === undefined) return false;
  // A source of an unknown kind cannot be compared; Flux's own report has to do.
  if (!spec.source) return true;
  if (!source) return false;
  const sameNamespace = spec.source.namespace === metadata.namespace;
  if (sameNamespace && pinsSource(source, deployment) && !hasFetched(source, deployment)) return false;
  return (source.status?.artifact as Artifact | undefined)?.revision === observed.applied;
}

/** helm-controller has of `<tag>@<digest>` the digest, and the whole where the tag is no version. */
function isArtifactOf(source: FluxObject, named: string | undefined): boolean {
  const revision = fetchedRevision(source);
  return revision !== undefined && named !== undefined && [revision, revision.split('@')[1]].includes(named);
}

function pinsSource(source: FluxObject, deployment: DeploymentRef): boolean {
  return pinAnnotationsOf(source).pins.some((pin) => pin.rollout === deployment.rollout);
}

function hasFetched(source: FluxObject, deployment: DeploymentRef): boolean {
  return (
    carries(parseDeployments(source.metadata.annotations?.[DEPLOYED]), deployment) &&
    isOfTag(fetchedRevision(source), deployment.version)
  );
}
