/** Proof that a version arrived, from a Flux object's own status (docs/architecture.md, fact F8). */
import type { Artifact, FluxObject, FluxStatus } from '../../api/flux.ts';
import { findCondition } from '../kube/conditions.ts';
import { LIMITS } from '../limits.ts';

interface ReconciledStatus extends FluxStatus {
  artifact?: Artifact;
  lastAppliedRevision?: string;
}

/** The artifact revision a source has for its current spec. Ready=True says less: it appears 4 ms too early. */
export function fetchedRevision(source: FluxObject): string | undefined {
  const status = source.status as ReconciledStatus | undefined;
  if (source.spec?.suspend === true || !isCurrent(source)) return undefined;
  return bounded(status?.artifact?.revision);
}

/** The revision a Kustomization applied with its current spec, and found ready. A suspended one only looks so. */
export function appliedRevision(kustomization: FluxObject): string | undefined {
  const status = kustomization.status as ReconciledStatus | undefined;
  const ready = findCondition(status?.conditions, 'Ready');
  if (kustomization.spec?.suspend === true || !isCurrent(kustomization)) return undefined;
  if (ready?.status !== 'True' || ready.observedGeneration !== kustomization.metadata.generation) return undefined;
  return bounded(status?.lastAppliedRevision);
}

function isCurrent(object: FluxObject): boolean {
  const { generation } = object.metadata;
  return generation !== undefined && object.status?.observedGeneration === generation;
}

/** Not truncated: two long revisions must not look alike. */
function bounded(revision: unknown): string | undefined {
  return typeof revision === 'string' && revision.length <= LIMITS.revision ? revision : undefined;
}
