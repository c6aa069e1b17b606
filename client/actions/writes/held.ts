/** What a freeze would hold, said before anybody agrees to it. */
import { KINDS } from '../../../api/kinds.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Gate, Rollout } from '../../../api/types.ts';
import { gateSelects, gateSelectsRollout, type Requirer, requirerText } from '../../../core/gate/gateSelection.ts';
import { few } from '../../../core/kube/firstFew.ts';
import { identityOf } from '../../../core/kube/names.ts';

type Labels = Readonly<Record<string, string>>;

/** Of these objects those that the Gate selects, sorted. `namespaces`: their labels, by name. */
export function selectedBy(
  gate: Gate,
  objects: readonly KubeObject<any, any>[],
  namespaces: ReadonlyMap<string, Labels>,
): Requirer[] {
  const isSelected = (object: KubeObject<any, any>) => {
    const labels = namespaces.get(object.metadata.namespace ?? '') ?? {};
    return object.kind === KINDS.Rollout.kind
      ? gateSelectsRollout(gate, object as Rollout, labels)
      : gateSelects(gate, object, labels);
  };
  return objects
    .filter(isSelected)
    .map((object) => ({ kind: object.kind, ...identityOf(object) }))
    .sort((a, b) => (requirerText(a) < requirerText(b) ? -1 : 1));
}

/** `2 Kustomizations (checkout, search) and 1 Rollout (checkout)`; names with their namespace where there is more than one. */
export function heldText(held: readonly Requirer[]): string {
  const isQualified = new Set(held.map(({ namespace }) => namespace)).size > 1;
  const parts = [...new Set(held.map(({ kind }) => kind))].map((kind) => {
    const objects = held.filter((each) => each.kind === kind);
    const names = objects.map(({ namespace, name }) => (isQualified ? `${namespace}/${name}` : name));
    return `${objects.length} ${plural(kind, objects.length)} (${few(names, 5)})`;
  });
  if (parts.length === 0) return 'nothing that is there now';
  return parts.length === 1 ? parts[0]! : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function plural(kind: string, count: number): string {
  if (count === 1) return kind;
  return kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}

/** What whoever freezes should know of what is held. */
export function freezeConcerns(gate: Gate, held: readonly Requirer[]): string[] {
  const kinds: readonly string[] = gate.spec.selects?.kinds ?? [];
  const syncs = kinds.some((kind) => kind === 'Kustomization' || kind === 'HelmRelease');
  const sources = kinds.filter((kind) => /Repository$|^Bucket$/.test(kind));
  const flux = held.find(
    ({ kind, namespace, name }) => kind === 'Kustomization' && namespace === 'flux-system' && name === 'flux-system',
  );
  return [
    ...(flux
      ? [
          "It holds Flux's own Kustomization flux-system/flux-system: nothing would come from Git any more, not even a change to this Gate",
        ]
      : []),
    ...(syncs && sources.length > 0
      ? [
          `It holds syncs and sources (${sources.join(', ')}): a path that moves meanwhile deletes and re-creates what it applies`,
        ]
      : []),
  ];
}
