/** The objects that a Gate holds or would hold by its selection: reads them, and lists them as text. */
import { GOVERNED_KINDS, KINDS, type KindName } from '../../api/kinds.ts';
import type { AnyObject, ObjectName } from '../../api/kubernetes.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { unreadTexts } from '../../client/explain/related.ts';
import { gateSelects, gateSelectsRollout, requirerText } from '../../core/gate/gateSelection.ts';
import { identityOf } from '../../core/kube/names.ts';
import { countOf } from '../../core/text/count.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import type { KubeClient } from '../kube/kubeClient.ts';
import { optionalReader } from './optionalReads.ts';

/** Reads the objects that a Gate selects. `unread`: kinds that could not be read, a sentence each. */
export async function readSelected(client: KubeClient, gate: Gate): Promise<{ held: ObjectName[]; unread: string[] }> {
  const { selects } = gate.spec;
  if (!selects) return { held: [], unread: [] };
  const isWide = selects.namespaceSelector !== undefined;
  const namespace = isWide ? undefined : gate.metadata.namespace;
  const { unread, list } = optionalReader(client);
  const every = GOVERNED_KINDS.map(({ kind }) => kind);
  const kinds: readonly KindName[] = selects.kinds?.length ? selects.kinds : every;
  const [namespaces, ...lists] = await Promise.all([
    isWide ? list('Namespace', undefined) : [],
    ...kinds.map((kind) => list(kind, namespace)),
  ]);
  const labels = new Map(namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]));
  return { held: selectedObjects(gate, lists.flat() as AnyObject[], labels), unread: unreadTexts(unread) };
}

type Labels = Readonly<Record<string, string>>;

/** The objects that the Gate selects, sorted. `namespaces`: the labels of each Namespace, by its name. */
export function selectedObjects(
  gate: Gate,
  objects: readonly AnyObject[],
  namespaces: ReadonlyMap<string, Labels>,
): ObjectName[] {
  const isSelected = (object: AnyObject) => {
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

/** The objects as text: `2 Kustomizations (checkout, search) and 1 Rollout (checkout)`. */
export function heldText(held: readonly ObjectName[]): string {
  const isQualified = new Set(held.map(({ namespace }) => namespace)).size > 1;
  const parts = [...new Set(held.map(({ kind }) => kind))].map((kind) => {
    const objects = held.filter((each) => each.kind === kind);
    const names = objects.map(({ namespace, name }) => (isQualified ? `${namespace}/${name}` : name));
    return `${countOf(objects.length, kind)} (${firstFew(names, 5)})`;
  });
  if (parts.length === 0) return 'nothing that exists now';
  return parts.length === 1 ? parts[0]! : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** Warnings about a freeze that holds these objects. */
export function freezeConcerns(gate: Gate, held: readonly ObjectName[]): string[] {
  const kinds: readonly string[] = gate.spec.selects?.kinds ?? [];
  const syncs = kinds.some((kind) => kind === 'Kustomization' || kind === 'HelmRelease');
  const sources = kinds.filter((kind) => /Repository$|^Bucket$/.test(kind));
  const flux = held.find(
    ({ kind, namespace, name }) => kind === 'Kustomization' && namespace === 'flux-system' && name === 'flux-system',
  );
  return [
    ...(flux
      ? [
          "It holds Flux's own Kustomization flux-system/flux-system: nothing more would be applied from Git, not even a change to this Gate",
        ]
      : []),
    ...(syncs && sources.length > 0
      ? [
          `It holds syncs and sources (${sources.join(', ')}): if a path moves in the meantime, Flux may delete and re-create what it applies`,
        ]
      : []),
  ];
}
