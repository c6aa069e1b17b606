/**
 * What the Rollouts and Gates of a Flux object say. The object's decorator relates those that the annotations name, so that it need not wait until the
 * object's FluxBinding says it: a write and two syncs later. The answer of its customize hook is as old as the object's generation
 * (docs/facts.md, M6): where it is not sent all of them, the binding relates them itself. ADR 2.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { DeploymentRef, FluxBinding, FluxBindingSpec, Gate, Rollout } from '../../api/types.ts';
import { gatesOf } from '../gate/refs.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { deploymentOf } from '../pin/deployment.ts';
import { writeBackName } from '../policy/writeBack.ts';
import { isPassing, passageEnds } from '../suspend/passage.ts';
import { closingKey } from '../suspend/stateAnnotation.ts';
import { FOLLOWER } from './follower.ts';
import { type GateEntry, gateEntries, judgedGates } from './gates.ts';

type Kept = NonNullable<FluxBindingSpec['said']>;

export interface Said extends Omit<Kept, 'gates'> {
  gates?: GateEntry[];
}

export interface Sent {
  /** By name, of the object's namespace. */
  rollouts: ReadonlyMap<string, Rollout>;
  /** By `namespace/name`. */
  gates: ReadonlyMap<string, Gate>;
}

export function sentOf(rollouts: readonly Rollout[], gates: readonly Gate[]): Sent {
  return {
    rollouts: new Map(rollouts.map((rollout) => [rollout.metadata.name ?? '', rollout])),
    gates: new Map(gates.map((gate) => [refKey(identityOf(gate)), gate])),
  };
}

/** With the instant from which they say something else by themselves. */
export function saidOf(binding: FluxBinding, sent: Sent, now: EpochMs): { said: Said; until?: EpochMs } {
  const judged = judgedGates(binding, sent.gates, now);
  const said = saidBy(binding.spec, sent.rollouts, gateEntries(judged, binding), now);
  const ends = [...sent.rollouts.values()].flatMap((rollout) => passageEnds(rollout) ?? []).filter((end) => end > now);
  const edges = [...judged.flatMap((gate) => gate.until ?? []), ...ends];
  return { said, ...(edges.length > 0 && { until: Math.min(...edges) }) };
}

/** @param gates one for each Gate of the spec */
export function saidBy(
  spec: FluxBindingSpec | undefined,
  rollouts: Sent['rollouts'],
  gates: readonly GateEntry[],
  now: EpochMs,
): Said {
  const existing = rolloutsOf(spec).flatMap((name) => rollouts.get(name) ?? []);
  const closings = closedClosings(gates);
  const passing = existing.filter((rollout) => isPassing(rollout, closings, now));
  return {
    ...(existing.length > 0 && {
      rollouts: existing.map((rollout) => {
        const writeBack = writeBackName(rollout);
        return { rollout: rollout.metadata.name ?? '', ...deploymentOf(rollout), ...(writeBack && { writeBack }) };
      }),
    }),
    ...(gates.length > 0 && { gates: [...gates] }),
    ...(passing.length > 0 && { passing: passing.map((rollout) => deploymentOf(rollout)!) }),
  };
}

/** As it is written into the spec of the FluxBinding. */
export function kept({ gates, ...said }: Said): Kept {
  return { ...said, ...(gates && { gates: gates.map(({ name, ...entry }) => ({ ...entry, gate: name })) }) };
}

export function remembered({ gates, ...said }: Kept): Said {
  return { ...said, ...(gates && { gates: gates.map(({ gate, ...entry }) => ({ ...entry, name: gate })) }) };
}

/** undefined where it has deployed nothing, or does not exist. */
export function headOf({ rollouts = [] }: Said, name: string): DeploymentRef | undefined {
  const { rollout, id, version, uid } = rollouts.find((each) => each.rollout === name) ?? {};
  return rollout === undefined || id === undefined || version === undefined || uid === undefined
    ? undefined
    : { rollout, id, version, uid };
}

/** See `closingKey`. */
export function closedClosings(gates: readonly GateEntry[] | undefined): string[] {
  return (gates ?? []).filter(({ opened }) => !opened).map((gate) => closingKey({ ref: gate, closing: gate.closing }));
}

export function rolloutsOf(spec: FluxBindingSpec | undefined): string[] {
  return [...new Set((spec?.pins ?? []).map((pin) => pin.rollout))].sort();
}

/** Each is a text in the spec of the binding too. */
const MAX_GATES = 16;

/**
 * Whether the decorator is sent all that the object names. A version that arrives with its source (core/pin/whole.ts)
 * follows that source, which is the binding's to relate.
 */
export function isInformed({ spec, metadata }: FluxBinding, { rollouts, gates }: Sent): boolean {
  if (!spec || spec.target.kind === FOLLOWER) return false;
  if (spec.source?.kind === 'OCIRepository' && spec.source.namespace === metadata.namespace) return false;
  const { pins = [] } = spec;
  const required = gatesOf(spec);
  if (pins.length === 0 && required.length === 0) return false;
  if (required.length > MAX_GATES) return false;
  return pins.every(({ rollout }) => rollouts.has(rollout)) && required.every((ref) => gates.has(refKey(ref)));
}
