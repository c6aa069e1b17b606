/** Whether a deployment has arrived: fetched and applied by Flux, and not only written into the object. */
import { DEPLOYED } from '../../api/annotations.ts';
import type { Artifact, FluxObject } from '../../api/flux.ts';
import type { FluxBinding, Stamp } from '../../api/types.ts';
import { marksOf } from '../pin/annotations.ts';
import { parseStamps } from '../pin/deployment.ts';
import { fetchedRevision } from './proof.ts';

/** The same deployment of the same Rollout. */
export function isSameDeployment(a: Stamp, b: Stamp): boolean {
  return a.rollout === b.rollout && a.id === b.id && a.uid === b.uid;
}

export function carries(stamps: readonly Stamp[] | undefined, stamp: Stamp): boolean {
  return (stamps ?? []).some((s) => isSameDeployment(s, stamp));
}

/**
 * A pinned OCIRepository has fetched the tag; a pinned Kustomization has applied its source's newest artifact, and where
 * the same Rollout pins that source too, this artifact is the deployment's.
 */
export function hasArrived({ metadata, spec }: FluxBinding, source: FluxObject | undefined, stamp: Stamp): boolean {
  const observed = spec?.observed;
  if (!observed || !carries(observed.deployed, stamp)) return false;
  if (spec.target.kind === 'OCIRepository') return isTag(observed.fetched, stamp.version);
  if (observed.applied === undefined) return false;
  // A source of a kind unknown here cannot be compared with; Flux's own word has to do.
  if (!spec.source) return true;
  if (!source) return false;
  const sameNamespace = spec.source.namespace === metadata.namespace;
  if (sameNamespace && pinsSource(source, stamp) && !hasFetched(source, stamp)) return false;
  return (source.status?.artifact as Artifact | undefined)?.revision === observed.applied;
}

function pinsSource(source: FluxObject, stamp: Stamp): boolean {
  return marksOf(source).pins.some((pin) => pin.rollout === stamp.rollout);
}

function hasFetched(source: FluxObject, stamp: Stamp): boolean {
  return (
    carries(parseStamps(source.metadata.annotations?.[DEPLOYED]), stamp) &&
    isTag(fetchedRevision(source), stamp.version)
  );
}

/** Revisions of OCI artifacts are `<tag>@<digest>`. */
function isTag(revision: string | undefined, tag: string): boolean {
  return revision?.startsWith(`${tag}@`) ?? false;
}
