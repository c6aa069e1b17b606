/** What a FluxBinding says: which deployment its object should carry, what it has, and why it waits (SEAMS, contract 2). */
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBinding, FluxBindingSpec, FluxBindingStatus, Pin, Rollout, Stamp } from '../../api/types.ts';
import { formatTime } from '../kube/time.ts';
import { readable, stampOf } from '../pin/deployed.ts';
import { formatStamps } from '../pin/deployment.ts';
import { awaitsOf } from '../suspend/resume.ts';
import { carries, hasArrived, isSameDeployment } from './arrival.ts';
import { bindingConditions } from './conditions.ts';

export type PinState = NonNullable<FluxBindingStatus['pins']>[number];
export type GateState = NonNullable<FluxBindingStatus['gates']>[number];

export interface BindingSurroundings {
  /** By name, those that exist. */
  rollouts: ReadonlyMap<string, Rollout>;
  /** The source named in the binding's spec, where it exists. */
  source?: FluxObject | undefined;
  /** The Kustomization that the binding's spec awaits, where it exists. */
  applier?: FluxObject | undefined;
  /** One for each Gate of the binding's spec. */
  gates: GateState[];
}

/** Holds no time but those of changes: the same world gives the same status. */
export function bindingStatus(binding: FluxBinding, around: BindingSurroundings, now: EpochMs): FluxBindingStatus {
  const spec = binding.spec ?? { target: { apiVersion: '', kind: '', name: '', uid: '' } };
  const before = binding.status ?? {};
  const held = around.gates.some((gate) => !gate.opened);
  const applied = latch(binding, around);
  const pins = (spec.pins ?? []).map((pin) => pinState(pin, around, applied));
  const desired = desiredStamps(spec, around, held);
  const awaits = awaitsOf(spec.awaits, before.awaits, around.applier, now);
  const status: FluxBindingStatus = {
    ...(desired.length > 0 && { deployed: formatStamps(desired), summary: desired.map(readable).join(', ') }),
    ...(pins.length > 0 && { pins }),
    ...(applied.length > 0 && { applied }),
    ...(around.gates.length > 0 && { gates: around.gates }),
    ...(held && { heldSince: before.heldSince ?? formatTime(now) }),
    ...(awaits && { awaits }),
  };
  return { ...status, conditions: bindingConditions(status, spec, before.conditions, now) };
}

/** Behind a closed gate, and for a Rollout with nothing to say, the object keeps what it carries. */
function desiredStamps(spec: FluxBindingSpec, around: BindingSurroundings, held: boolean): Stamp[] {
  const names = rolloutsOf(spec);
  return names.flatMap((name) => {
    const carried = spec.observed?.deployed?.find((stamp) => stamp.rollout === name);
    const head = stampOf(around.rollouts.get(name));
    const stamp = held ? carried : (head ?? carried);
    return stamp ? [stamp] : [];
  });
}

/** Proven once is proven: a later suspension moves the generation and hides the proof. Older deployments are dropped. */
function latch(binding: FluxBinding, around: BindingSurroundings): Stamp[] {
  const names = rolloutsOf(binding.spec);
  const before = binding.status?.applied ?? [];
  return names.flatMap((name) => {
    const head = stampOf(around.rollouts.get(name));
    const latched = before.find((stamp) => stamp.rollout === name);
    if (!head) return latched ? [latched] : [];
    if (latched && isSameDeployment(latched, head)) return [latched];
    return hasArrived(binding, around.source, head) ? [head] : [];
  });
}

/** "Written, not applied yet" is no state of its own: it would cost a write of each release, and everybody related a look. */
function pinState(pin: Pin, around: BindingSurroundings, applied: readonly Stamp[]): PinState {
  const rollout = around.rollouts.get(pin.rollout);
  const head = stampOf(rollout);
  if (!head) {
    const why = rollout ? 'has deployed nothing yet' : 'does not exist';
    return { ...pin, state: 'Missing', message: `Rollout '${pin.rollout}' ${why}` };
  }
  const { id, version, uid } = head;
  return { ...pin, id, version, uid, state: carries(applied, head) ? 'Applied' : 'Waiting' };
}

function rolloutsOf(spec: FluxBindingSpec | undefined): string[] {
  return [...new Set((spec?.pins ?? []).map((pin) => pin.rollout))].sort();
}
