/** What a source has fetched, from its own status (docs/facts.md, F8). */
import type { Artifact, FluxObject, FluxStatus } from '../../../api/flux.ts';
import { LIMITS } from '../../limits.ts';

interface SourceStatus extends FluxStatus {
  artifact?: Artifact;
}

/** The artifact revision a source has for its current spec. Ready=True says less: it appears 4 ms too early. */
export function fetchedRevision(source: FluxObject): string | undefined {
  return source.spec?.suspend === true || !isCurrent(source) ? undefined : storedRevision(source);
}

/** The artifact revision that a source offers, for whatever spec it was fetched. */
export function storedRevision(source: FluxObject): string | undefined {
  return bounded((source.status as SourceStatus | undefined)?.artifact?.revision);
}

/** Revisions of OCI artifacts are `<tag>@<digest>`. */
export function isOfTag(revision: string | undefined, tag: string): boolean {
  return revision?.startsWith(`${tag}@`) ?? false;
}

/** Whether Flux's status is about the spec as it is now. */
export function isCurrent(object: FluxObject): boolean {
  const { generation } = object.metadata;
  return generation !== undefined && object.status?.observedGeneration === generation;
}

/** Not truncated: two long revisions must not look alike. */
export function bounded(revision: unknown): string | undefined {
  return typeof revision === 'string' && revision.length <= LIMITS.revision ? revision : undefined;
}
