/**
 * What the decorator of a Flux object is sent itself, so that it need not wait until the object's FluxBinding says it: a write and two syncs later.
 * It relates the Rollouts and Gates that the annotations name; the answer of its customize hook is as old as the object's
 * generation (docs/architecture.md, fact M6), so the binding speaks for those that it is not sent. ADR 44.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBinding, FluxBindingStatus, Gate, Rollout } from '../../api/types.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { FOLLOWER } from './follower.ts';
import { gateEntries, judgedGates } from './gates.ts';
import { bindingStatus } from './status.ts';

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

/** The binding, with a note where nothing waits for its status (later.ts). */
export function withInformed(binding: FluxBinding, sent: Sent): FluxBinding {
  return isInformed(binding, sent) ? { ...binding, spec: { ...binding.spec!, informed: true } } : binding;
}

/** The status that an informed binding is about to have, as far as it triggers the webhook; `observed` of any other. */
export function seenStatus(
  binding: FluxBinding | undefined,
  observed: FluxBindingStatus | undefined,
  sent: Sent,
  now: EpochMs,
): FluxBindingStatus | undefined {
  if (!binding?.spec?.informed) return observed;
  const entries = gateEntries(judgedGates(binding, sent.gates, now), binding);
  const before = { ...binding, ...(observed && { status: observed }) };
  const { deployed, pins, passing, gates } = bindingStatus(before, { rollouts: sent.rollouts, gates: entries }, now);
  const { deployed: _, pins: __, passing: ___, gates: ____, ...rest } = observed ?? {};
  return {
    ...rest,
    ...(deployed !== undefined && { deployed }),
    ...(pins && { pins }),
    ...(passing && { passing }),
    ...(gates && { gates }),
  };
}

/** A version that arrives with its source (core/pin/whole.ts) follows that source, which is the binding's to relate. */
function isInformed({ spec, metadata }: FluxBinding, { rollouts, gates }: Sent): boolean {
  if (!spec || spec.target.kind === FOLLOWER) return false;
  if (spec.source?.kind === 'OCIRepository' && spec.source.namespace === metadata.namespace) return false;
  const { pins = [], gates: required = [] } = spec;
  if (pins.length === 0 && required.length === 0) return false;
  return pins.every(({ rollout }) => rollouts.has(rollout)) && required.every((ref) => gates.has(refKey(ref)));
}
