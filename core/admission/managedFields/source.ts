/** The source whose artifact a Kustomization applies, or whose chart a HelmRelease releases. */
import type { FluxObject, SourceRef } from '../../../api/flux.ts';
import { ARTIFACT_KINDS, apiVersionOf, KINDS } from '../../../api/kinds.ts';
import type { FluxBindingSpec } from '../../../api/types.ts';

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
