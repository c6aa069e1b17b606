/**
 * The source whose artifact a Kustomization applies, or whose chart a HelmRelease releases; and what it has fetched, by
 * its own status (docs/facts.md, F8).
 */
import type { Artifact, FluxObject, SourceRef } from '../../api/flux.ts';
import { ARTIFACT_KINDS, apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { FluxBindingSpec } from '../../api/types.ts';
import { LIMITS } from '../limits.ts';

const MAX_NAME = 253;
const REFERENCES: Record<string, string> = {
  [KINDS.Kustomization.kind]: 'sourceRef',
  [KINDS.HelmRelease.kind]: 'chartRef',
};

export type Source = NonNullable<FluxBindingSpec['source']>;

export function sourceOf(object: FluxObject): Source | undefined {
  const field = REFERENCES[object.kind];
  const ref = (field === undefined ? undefined : object.spec?.[field]) as SourceRef | undefined;
  if (!ref?.name) return undefined;
  const kind = ARTIFACT_KINDS.find((row) => row.kind === ref.kind);
  if (!kind) return undefined;
  // No such object can exist, and a name of any length would not fit into a FluxBinding.
  if (ref.name.length > MAX_NAME || (ref.namespace ?? '').length > MAX_NAME) return undefined;
  return {
    // Whatever version sourceRef names: Flux ignores it.
    apiVersion: apiVersionOf(kind),
    kind: ref.kind,
    namespace: ref.namespace ?? object.metadata.namespace ?? '',
    name: ref.name,
  };
}

/** Plural, lower case, as the API server and Metacontroller expect it. */
export function sourceResource(source: Source): string | undefined {
  return ARTIFACT_KINDS.find(({ kind }) => kind === source.kind)?.resource;
}

/** The artifact revision a source has for its current spec. Ready=True says less: it appears 4 ms too early. */
export function fetchedRevision(source: FluxObject): string | undefined {
  return source.spec?.suspend === true || !isCurrent(source) ? undefined : storedRevision(source);
}

/** The artifact revision that a source offers, even if it was fetched for an older spec. */
export function storedRevision(source: FluxObject): string | undefined {
  return boundedRevision((source.status?.artifact as Artifact | undefined)?.revision);
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
export function boundedRevision(revision: unknown): string | undefined {
  return typeof revision === 'string' && revision.length <= LIMITS.revision ? revision : undefined;
}
