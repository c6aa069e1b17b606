/** References of a Rollout to other namespaces, for installations that forbid them. */
import type { Rollout } from '../../../api/types.ts';

/** A sentence for each. */
export function foreignRefs({ metadata, spec }: Rollout): string[] {
  const isForeign = (namespace: string | undefined) => namespace !== undefined && namespace !== metadata.namespace;
  const named = [
    { path: 'spec.releasesImagePolicy.namespace', namespace: spec?.releasesImagePolicy?.namespace },
    ...(spec?.gates ?? []).map(({ namespace }, index) => ({ path: `spec.gates[${index}].namespace`, namespace })),
    ...(spec?.after ?? []).map(({ namespace }, index) => ({ path: `spec.after[${index}].namespace`, namespace })),
  ];
  const sentences = named
    .filter(({ namespace }) => isForeign(namespace || undefined))
    .map(
      ({ path, namespace }) =>
        `${path}: ${JSON.stringify(namespace)} is another namespace, which this installation forbids`,
    );
  const { namespaceSelector } = spec?.healthCheckSelector ?? {};
  if (!namespaceSelector) return sentences;
  return [
    ...sentences,
    'spec.healthCheckSelector.namespaceSelector selects other namespaces, which this installation forbids',
  ];
}

/** The Rollout as it is followed where they are forbidden: nothing of another namespace is read for it. */
export function withoutForeignRefs(rollout: Rollout): Rollout {
  const { metadata, spec } = rollout;
  if (!spec) return rollout;
  const isOwn = ({ namespace }: { namespace?: string }) => !namespace || namespace === metadata.namespace;
  const { namespaceSelector: _, ...health } = spec.healthCheckSelector ?? {};
  return {
    ...rollout,
    spec: {
      ...spec,
      releasesImagePolicy: isOwn(spec.releasesImagePolicy) ? spec.releasesImagePolicy : {},
      ...(spec.gates && { gates: spec.gates.filter(isOwn) }),
      ...(spec.after && { after: spec.after.filter(isOwn) }),
      ...(spec.healthCheckSelector && { healthCheckSelector: health }),
    },
  };
}
