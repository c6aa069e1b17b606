/** The source whose artifact a Kustomization applies. */
import type { FluxObject, SourceRef } from '../../api/flux.ts';
import type { FluxBindingSpec } from '../../api/types.ts';

const SOURCES: Record<string, string> = {
  OCIRepository: 'ocirepositories',
  GitRepository: 'gitrepositories',
  Bucket: 'buckets',
  ExternalArtifact: 'externalartifacts',
};

/** The version we read. What a sourceRef says of it Flux does not look at, and anybody may write anything there. */
const API_VERSION = 'source.toolkit.fluxcd.io/v1';

const MAX_NAME = 253;

export type Source = NonNullable<FluxBindingSpec['source']>;

export function sourceOf(object: FluxObject): Source | undefined {
  const ref = object.spec?.sourceRef as SourceRef | undefined;
  if (object.kind !== 'Kustomization' || !ref?.name || !SOURCES[ref.kind]) return undefined;
  // No such object can exist, and a name of any length would not fit into a FluxBinding.
  if (ref.name.length > MAX_NAME || (ref.namespace ?? '').length > MAX_NAME) return undefined;
  return {
    apiVersion: API_VERSION,
    kind: ref.kind,
    namespace: ref.namespace ?? object.metadata.namespace ?? '',
    name: ref.name,
  };
}

/** Plural, lower case, as the API server and Metacontroller want it. */
export function sourceResource(source: Source): string | undefined {
  return SOURCES[source.kind];
}
