/**
 * The Gates that each Flux object requires, and since when: from its annotation and from `spec.selects` of the Gates of
 * its namespace, whether or not hooks have marked it. Gates that select beyond their namespace count once it is marked.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyObject } from '../client/send.ts';
import { type FluxObject, isSelectedBy, managedFieldsOf, names } from '../reference/flux.ts';

const GATES = 'gate.fluxcd.io/gates';
const SELECTED_BY = 'gate.fluxcd.io/selected-by';
const SELECTS_LABEL = 'gate.fluxcd.io/selects';
/** The greatest age of the list of bound objects in a deployment's decision. */
const LIST_AGE_MS = 1000;

interface Required {
  object: AnyObject;
  /** Since when the object has named each Gate, by `namespace/name`. */
  gates: Map<string, number>;
  /** Since when the object has been bound to each Rollout, by name. */
  rollouts: Map<string, number>;
}

/** Limits beyond which an object counts as held by a closed Gate: docs/reference/limits.md. */
export interface GateLimits {
  requiredGates: number;
  selectingGates: number;
}

/** Stands for the closed Gate as which an exceeded limit counts. */
export const TOO_MANY = '(too many)';

export class RequiredGates {
  /** Since when each Gate without a namespaceSelector selects what it selects now. */
  private readonly selecting = new Map<string, { gate: AnyObject; revision: number; ms: number }>();
  private readonly objects = new Map<string, Required>();
  private readonly limits: GateLimits;

  constructor(limits: GateLimits) {
    this.limits = limits;
  }

  /** Whether the object names too many Gates. */
  namesTooMany(object: AnyObject | undefined): boolean {
    return new Set(gatesNamedBy(object)).size > this.limits.requiredGates;
  }

  /** The revision since which too many Gates select in a namespace; undefined if they don't. */
  selectTooManySince(namespace = ''): number | undefined {
    const selecting = [...this.selecting].filter(([name]) => name.startsWith(`${namespace}/`));
    const since = selecting.map(([, { revision }]) => revision).sort((a, b) => a - b);
    return since[this.limits.selectingGates];
  }

  /** Takes the next stored version of a Gate, named `namespace/name`; undefined after a deletion. */
  takeGate(name: string, gate: AnyObject | undefined, revision: number, ms: number): void {
    const selects = gate?.spec.selects;
    // Without the webhook the Gate gets the label by which hooks find it later, from a decorator.
    if (!gate || !selects || selects.namespaceSelector || !(SELECTS_LABEL in (gate.metadata.labels ?? {})))
      this.selecting.delete(name);
    else if (!isDeepStrictEqual(this.selecting.get(name)?.gate.spec.selects, selects))
      this.selecting.set(name, { gate, revision, ms });
  }

  /** Takes the next stored version of a Flux object; undefined after a deletion. */
  takeFlux(key: string, object: AnyObject | undefined, ms: number): void {
    const known = this.objects.get(key);
    if (!object || object.metadata.deletionTimestamp) {
      this.objects.delete(key);
      return;
    }
    const since = (all: Iterable<string>, before: Map<string, number> | undefined) =>
      new Map([...all].map((name) => [name, before?.get(name) ?? ms]));
    const rollouts = managedFieldsOf(object as FluxObject).values();
    this.objects.set(key, {
      object,
      gates: since(gatesNamedBy(object), known?.gates),
      rollouts: since(rollouts, known?.rollouts),
    });
  }

  /** The Gates that the object requires now. */
  of(object: AnyObject): string[] {
    const selecting = [...this.selecting].filter(([, { gate }]) =>
      isSelectedBy(gate as FluxObject, object as FluxObject),
    );
    const beyond = refs(object, SELECTED_BY).filter((gate) => !gate.startsWith(`${object.metadata.namespace}/`));
    // Which Gates these are doesn't matter: their author could have named fewer before any of them closed.
    const named = this.namesTooMany(object) ? [TOO_MANY] : gatesNamedBy(object);
    return [...new Set([...named, ...selecting.map(([name]) => name), ...beyond])];
  }

  /** The revision at which the Gate began to select an object that doesn't name it. */
  selectedAt(object: AnyObject, gate: string): number | undefined {
    return gatesNamedBy(object).includes(gate) ? undefined : this.selecting.get(gate)?.revision;
  }

  /** The Gates of the objects bound to the Rollout that a decision at `ms` must have seen. */
  ofBound({ namespace, name = '' }: AnyObject['metadata'], ms: number): string[] {
    const isKnown = (since: number | undefined) => since !== undefined && since < ms - LIST_AGE_MS;
    return [...this.objects.values()]
      .filter(({ object, rollouts }) => object.metadata.namespace === namespace && isKnown(rollouts.get(name)))
      .flatMap(({ object, gates }) =>
        this.of(object).filter((gate) => isKnown(gates.get(gate) ?? this.selecting.get(gate)?.ms)),
      );
  }
}

/** The Gates that the object's annotation names, as `namespace/name`. */
export function gatesNamedBy(object: AnyObject | undefined): string[] {
  return refs(object, GATES);
}

function refs(object: AnyObject | undefined, annotation: string): string[] {
  return names(object?.metadata.annotations?.[annotation], object?.metadata.namespace ?? '');
}
