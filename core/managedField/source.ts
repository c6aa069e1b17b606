/**
 * The source of a Kustomization or HelmRelease, and the artifact that it has fetched, according to its own status
 * (docs/facts.md, F8).
 */
import type { Artifact, FluxObject, SourceRef } from '../../api/flux.ts';
import { ARTIFACT_KINDS, apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { FluxBindingSpec } from '../../api/types.ts';
import { fieldAt, stringAt } from '../kstatus/fields.ts';
import { LIMITS } from '../limits.ts';

const MAX_NAME_CHARACTERS = 253;
/** The field that references the source, by kind. */
const REFERENCE_FIELDS: Record<string, string> = {
  [KINDS.Kustomization.kind]: 'sourceRef',
  [KINDS.HelmRelease.kind]: 'chartRef',
};

type Source = NonNullable<FluxBindingSpec['source']>;

/** The source of a Kustomization or HelmRelease; undefined for other kinds, or without a reference. */
export function sourceOf(object: FluxObject): Source | undefined {
  const field = REFERENCE_FIELDS[object.kind];
  const ref = (field === undefined ? undefined : object.spec?.[field]) as SourceRef | undefined;
  if (!ref?.name) return undefined;
  const kind = ARTIFACT_KINDS.find((row) => row.kind === ref.kind);
  if (!kind) return undefined;
  // No such object can exist, and a name without limit would not fit into a FluxBinding.
  if (ref.name.length > MAX_NAME_CHARACTERS || (ref.namespace ?? '').length > MAX_NAME_CHARACTERS) return undefined;
  return {
    // Flux ignores the version in sourceRef.
    apiVersion: apiVersionOf(kind),
    kind: ref.kind,
    namespace: ref.namespace ?? object.metadata.namespace ?? '',
    name: ref.name,
  };
}

/** The resource name as the API server and Metacontroller use it: plural, lower case. */
export function sourceResource(source: Source): string | undefined {
  return ARTIFACT_KINDS.find(({ kind }) => kind === source.kind)?.resource;
}

/**
 * The artifact revision that a source has for its current spec; undefined without one. Ready=True is no proof: it
 * appears 4 ms too early.
 */
export function fetchedRevision(source: FluxObject): string | undefined {
  return source.spec?.suspend === true || !isCurrent(source) ? undefined : storedRevision(source);
}

/** The artifact revision that a source offers, even if it was fetched for an older spec. */
export function storedRevision(source: FluxObject): string | undefined {
  return boundedRevision((source.status?.artifact as Artifact | undefined)?.revision);
}

/** Whether the revision of an OCI artifact, `<tag>@<digest>`, has this tag. */
export function isOfTag(revision: string | undefined, tag: string): boolean {
  return revision?.startsWith(`${tag}@`) ?? false;
}

/**
 * Whether a report names the artifact with this revision, `<tag>@<digest>`. A HelmRelease reports the digest alone, or
 * the whole revision if the tag is not a version.
 */
export function namesArtifact(report: string, revision: string): boolean {
  return [revision, revision.split('@')[1]].includes(report);
}

/**
 * The digest of the OCI artifact whose chart a HelmRelease runs; undefined if its newest release isn't deployed. A
 * release that Helm made as a remediation has no digest. The last attempt's counts then, if it was at the same chart.
 */
export function releasedDigest({ status }: FluxObject): string | undefined {
  const newest = fieldAt(status, ['history', 0]);
  if (stringAt(newest, ['status']) !== 'deployed') return undefined;
  const chart = stringAt(newest, ['chartVersion']);
  const isOfAttempt = chart !== undefined && chart === status?.lastAttemptedRevision;
  const attempted = isOfAttempt ? stringAt(status, ['lastAttemptedRevisionDigest']) : undefined;
  return boundedRevision(stringAt(newest, ['ociDigest']) ?? attempted);
}

/** Whether Flux's status belongs to the object's present spec. */
export function isCurrent(object: FluxObject): boolean {
  const { generation } = object.metadata;
  return generation !== undefined && object.status?.observedGeneration === generation;
}

/** A revision of limited length, undefined if it is longer: truncated, two long revisions could be equal. */
export function boundedRevision(revision: unknown): string | undefined {
  return typeof revision === 'string' && revision.length <= LIMITS.revision ? revision : undefined;
}
