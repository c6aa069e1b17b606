/** Which Gates a Flux object requires: those it names, and those that select it. */
import { GATES, SELECTED_BY, SELECTS_LABEL } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { parseGateRefs, refKey } from '../gate/refs.ts';
import { type JudgedGate, judgeGates } from '../gate/required.ts';
import { gateSelects } from '../gate/selects.ts';

/** The Gates there are, as read for one object. */
export interface GateWorld {
  /** By `namespace/name`; a Gate that does not exist is absent. */
  gates: ReadonlyMap<string, Gate>;
  /** Labels of the object's own Namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  now: EpochMs;
}

export interface RequiredGates {
  named: NamespacedName[];
  selecting: NamespacedName[];
  /** Parts of the annotation that name no Gate: they suspend the object, but do not keep anybody from repairing them. */
  problems: string[];
}

/** More than this in one annotation is a mistake or an attack: each costs a live read in every write. */
const MAX_REFS = 200;
const MAX_PROBLEMS = 20;
const MAX_PROBLEM = 400;

export function namedGates(object: FluxObject): { refs: NamespacedName[]; problems: string[] } {
  const { refs, problems: all } = parseGateRefs(object.metadata.annotations?.[GATES], object.metadata.namespace ?? '');
  const problems = all.slice(0, MAX_PROBLEMS).map((problem) => problem.slice(0, MAX_PROBLEM));
  if (refs.length <= MAX_REFS) return { refs, problems };
  return { refs: refs.slice(0, MAX_REFS), problems: [...problems, `${GATES} names more than ${MAX_REFS} Gates.`] };
}

/** The Gates that the mark names. It proves nothing: see `selectingGates`. */
export function markedGates(object: FluxObject): NamespacedName[] {
  return parseGateRefs(object.metadata.annotations?.[SELECTED_BY], object.metadata.namespace ?? '').refs.slice(
    0,
    MAX_REFS,
  );
}

/** Those of the candidates that exist and select the object: nobody's text in the mark counts for more. */
export function selectingGates(
  object: FluxObject,
  candidates: readonly NamespacedName[],
  { gates, namespaceLabels }: GateWorld,
): NamespacedName[] {
  const keys = [...new Set(candidates.map(refKey))].sort();
  return keys.flatMap((key) => {
    const gate = gates.get(key);
    // The decorators find selecting Gates by this label, so without it the mark would come and go.
    if (gate?.metadata.labels?.[SELECTS_LABEL] === undefined || !gateSelects(gate, object, namespaceLabels)) return [];
    return [{ namespace: gate.metadata.namespace ?? '', name: gate.metadata.name ?? '' }];
  });
}

/** `candidates` are where selecting Gates are looked for; the object's own mark when absent. */
export function requiredGates(
  object: FluxObject,
  world: GateWorld,
  candidates: readonly NamespacedName[] = markedGates(object),
): RequiredGates {
  const { refs, problems } = namedGates(object);
  return { named: refs, selecting: selectingGates(object, candidates, world), problems };
}

/** Every closed one, not the first. */
export function closedGates({ named, selecting }: RequiredGates, { gates, now }: GateWorld): JudgedGate[] {
  const refs = new Map([...named, ...selecting].map((ref) => [refKey(ref), ref]));
  return judgeGates([...refs.values()], (ref) => gates.get(refKey(ref)), now).closed;
}

/** The text of the mark; undefined for none. */
export function selectedByText(selecting: readonly NamespacedName[]): string | undefined {
  return selecting.length > 0 ? selecting.map(refKey).sort().join(',') : undefined;
}
