/**
 * What a FluxBinding need not say at once: that its object has not applied a new deployment yet, and that a Gate has just opened or closed.
 * Where the object is informed (seen.ts) nothing waits for that. Flux is done with most versions meanwhile, a freeze writes its
 * suspensions first, and each write of this status is a sync of everything related. ADR 44.
 */
import { OPENED } from '../../api/conditions.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBinding, FluxBindingStatus, Gate } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { sameJson } from '../kube/json.ts';
import { refKey } from '../kube/names.ts';
import { parseTime } from '../kube/time.ts';
import type { GateEntry } from './gates.ts';
import type { Sent } from './seen.ts';
import type { PinState } from './status.ts';

/** Of a deployment, after which it is worth saying that Flux has not applied it. */
const DEPLOYED_MS = 30_000;
const GATE_MS = 5000;

/** In how many seconds `next` has to be said; undefined: now. */
export function toldLater(
  { spec, status: before }: FluxBinding,
  next: FluxBindingStatus,
  sent: Sent,
  now: EpochMs,
): number | undefined {
  if (!spec?.informed || !before || !sameJson(unhurried(before), unhurried(next))) return undefined;
  const changed = [...changedPins(before, next, sent), ...changedGates(before, next, sent, now)];
  const left = changed.map(({ at, lasts }) => (at <= now ? at + lasts - now : 0));
  return left.length > 0 && left.every((ms) => ms > 0) ? Math.min(...left) / 1000 : undefined;
}

interface Change {
  /** 0 where it is not known: long ago. */
  at: EpochMs;
  /** How long it may go unsaid. */
  lasts: number;
}

/** An arrival is never told later. */
function changedPins(before: FluxBindingStatus, next: FluxBindingStatus, { rollouts }: Sent): Change[] {
  const was = new Map((before.pins ?? []).map((pin) => [pinKey(pin), pin]));
  return (next.pins ?? []).flatMap((pin) => {
    if (sameJson(was.get(pinKey(pin)), pin)) return [];
    const [head] = rollouts.get(pin.rollout)?.status?.history ?? [];
    const isOnItsWay = pin.state === 'Waiting' && pin.id === (head?.id ?? 0);
    return [{ at: (isOnItsWay && parseTime(head?.timestamp)) || 0, lasts: DEPLOYED_MS }];
  });
}

/** Of a Gate whose own status does not say so yet: now. */
function changedGates(before: FluxBindingStatus, next: FluxBindingStatus, { gates }: Sent, now: EpochMs): Change[] {
  const was = new Map((before.gates ?? []).map((gate) => [refKey(gate), gate]));
  return (next.gates ?? []).flatMap((entry) => {
    if (sameJson(was.get(refKey(entry)), entry)) return [];
    return [{ at: changedAt(entry, gates.get(refKey(entry)), now), lasts: GATE_MS }];
  });
}

function changedAt({ opened }: GateEntry, gate: Gate | undefined, now: EpochMs): EpochMs {
  const said = findCondition(gate?.status?.conditions, OPENED);
  if (!said) return 0;
  return said.status === (opened ? 'True' : 'False') ? (parseTime(said.lastTransitionTime) ?? 0) : now;
}

/** What must be the same: all but what pins and Gates say. */
function unhurried({ pins = [], gates = [], passing, awaits, source }: FluxBindingStatus) {
  return { passing, awaits, source, pins: pins.map(pinKey), gates: gates.map(refKey) };
}

const pinKey = ({ rollout, variable }: Pick<PinState, 'rollout' | 'variable'>): string =>
  `${rollout} ${variable ?? ''}`;
