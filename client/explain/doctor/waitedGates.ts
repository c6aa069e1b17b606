/** Kustomizations that wait for Gates which they apply themselves: while one is closed, Flux calls them failed. */
import type { FluxObject } from '../../../api/flux.ts';
import { KINDS } from '../../../api/kinds.ts';
import { parseInventory } from '../../../core/health/objects/inventory.ts';
import { firstFew } from '../../../core/kube/firstFew.ts';
import { groupOf } from '../../../core/kube/names.ts';
import { type Finding, problem } from './finding.ts';

const GATES = new Set([KINDS.Gate, KINDS.RolloutGate].map(({ group, kind }) => `${group}/${kind}`));

interface Waiting {
  wait?: boolean;
  healthCheckExprs?: { apiVersion?: string; kind?: string }[];
}

const kindKey = ({ apiVersion = '', kind = '' }: { apiVersion?: string; kind?: string }) =>
  `${groupOf(apiVersion)}/${kind}`;

export function waitedGateFindings(kustomizations: readonly FluxObject[]): Finding[] {
  return kustomizations.flatMap(({ metadata, spec, status }) => {
    const { wait, healthCheckExprs = [] } = (spec ?? {}) as Waiting;
    if (!wait) return [];
    const evaluated = new Set(healthCheckExprs.map(kindKey));
    const { resources } = parseInventory(
      (status as { inventory?: { entries?: unknown } } | undefined)?.inventory?.entries,
    );
    const waited = resources.filter((each) => GATES.has(kindKey(each)) && !evaluated.has(kindKey(each)));
    if (waited.length === 0) return [];
    const names = firstFew(waited.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`));
    return [
      problem(
        'Gates',
        `Kustomization ${metadata.namespace}/${metadata.name} has wait: true and applies ${names}: while a gate is closed, Flux calls the Kustomization failed`,
        'add the healthCheckExprs of docs/depend-on-a-gate.md',
      ),
    ];
  });
}
