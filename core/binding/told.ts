/**
 * When a FluxBinding is told of what its object's decorator is sent. Where the decorator is sent all of it, nothing waits for that its object has not
 * applied a new deployment yet, or that a Gate has just opened or closed. Flux is done with most versions meanwhile, a freeze writes its
 * suspensions first, and each write of a binding is a sync of everything related. ADR 2.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBinding, FluxBindingStatus } from '../../api/types.ts';
import { changedAt } from '../gate/changed.ts';
import { sameJson } from '../kube/json.ts';
import { refKey } from '../kube/names.ts';
import { parseTime } from '../kube/time.ts';
import { isInformed, kept, remembered, type Said, type Sent, saidOf } from './said.ts';
import { bindingStatus } from './status.ts';

/** Of a deployment, after which it is worth saying that Flux has not applied it. Longer than a burst of thousands: told in its midst, it would take twice the time. */
const DEPLOYED_MS = 600_000;
/** The same of the first one: until it is told, the binding says that its Rollout has deployed nothing, which is false. */
const FIRST_DEPLOYED_MS = 60_000;
/** Longer than a freeze of a thousand objects takes to suspend them. */
const GATE_MS = 15_000;

export interface Told {
  binding: FluxBinding;
  /** What the binding is about to say, as far as it triggers the webhook; what it says, where the decorator is not sent all. */
  status: FluxBindingStatus | undefined;
  /** When to look again: there is more to tell, or something else will be said. */
  lookAt?: EpochMs;
}

/** @param observed the binding as it is */
export function toldBinding(wanted: FluxBinding, observed: FluxBinding | undefined, sent: Sent, now: EpochMs): Told {
  if (!isInformed(wanted, sent)) return { binding: wanted, status: observed?.status };
  const { said, until } = saidOf(wanted, sent, now);
  const { said: before, ...others } = observed?.spec ?? {};
  const later = before && sameJson(others, wanted.spec) ? tellLater(remembered(before), said, sent, now) : undefined;
  const looks = [later, until].filter((at) => at !== undefined);
  return {
    binding: { ...wanted, spec: { ...wanted.spec!, said: later === undefined ? kept(said) : before! } },
    status: statusToBe(wanted, observed?.status, said, now),
    ...(looks.length > 0 && { lookAt: Math.min(...looks) }),
  };
}

/** Its source is not known here: of what depends on that, the status says what it said. */
function statusToBe(
  binding: FluxBinding,
  observed: FluxBindingStatus | undefined,
  said: Said,
  now: EpochMs,
): FluxBindingStatus {
  const before = { ...binding, ...(observed && { status: observed }) };
  const { deployed, pins, passing, gates } = bindingStatus(before, { said }, now);
  const { deployed: _, pins: __, passing: ___, gates: ____, ...rest } = observed ?? {};
  return {
    ...rest,
    ...(deployed !== undefined && { deployed }),
    ...(pins && { pins }),
    ...(passing && { passing }),
    ...(gates && { gates }),
  };
}

/** When `next` has to be told; undefined: now. */
function tellLater(before: Said, next: Said, sent: Sent, now: EpochMs): EpochMs | undefined {
  if (!sameJson(unhurried(before), unhurried(next))) return undefined;
  const changed = [...changedRollouts(before, next, sent), ...changedGates(before, next, sent, now)];
  const due = changed.map(({ at, lasts }) => (at <= now ? at + lasts : now));
  return due.length > 0 && due.every((at) => at > now) ? Math.min(...due) : undefined;
}

interface Change {
  /** 0 where it is not known: long ago. */
  at: EpochMs;
  /** How long it may go untold. */
  lasts: number;
}

/** What the object has applied is not said here, and told at once. */
function changedRollouts(before: Said, next: Said, { rollouts }: Sent): Change[] {
  const was = new Map((before.rollouts ?? []).map((each) => [each.rollout, each]));
  return (next.rollouts ?? []).flatMap((said) => {
    const earlier = was.get(said.rollout);
    if (sameJson(earlier, said)) return [];
    const [head] = rollouts.get(said.rollout)?.status?.history ?? [];
    return [
      { at: parseTime(head?.timestamp) ?? 0, lasts: earlier?.id === undefined ? FIRST_DEPLOYED_MS : DEPLOYED_MS },
    ];
  });
}

/** Of a Gate whose own status does not say so yet: now. */
function changedGates(before: Said, next: Said, { gates }: Sent, now: EpochMs): Change[] {
  const was = new Map((before.gates ?? []).map((gate) => [refKey(gate), gate]));
  return (next.gates ?? []).flatMap((entry) => {
    if (sameJson(was.get(refKey(entry)), entry)) return [];
    return [{ at: changedAt(gates.get(refKey(entry)), entry.opened, now), lasts: GATE_MS }];
  });
}

/** What must be the same: all but what they say. */
function unhurried({ rollouts = [], gates = [], passing }: Said) {
  return { rollouts: rollouts.map(({ rollout }) => rollout), gates: gates.map(refKey), passing };
}
