/** What the Pods of a version do: the truth that verdicts about its deployments are checked against. */
import type { Random } from '../../actors/random.ts';

export type Phase = 'starting' | 'ready' | 'unready' | 'crashed';
/** The phases of a container with their seconds; the last one has no end. */
export type Behavior = readonly (readonly [seconds: number, phase: Phase])[];

export interface Version {
  name: string;
  /** Whether the version doesn't work; otherwise everything that goes wrong with it is transient. */
  isBroken: boolean;
  behavior: Behavior;
  /** Whether only the first Pod behaves so. */
  isPartial: boolean;
}

const starting = (seconds = 5) => [seconds, 'starting'] as const;
const ready = (seconds = 0) => [seconds, 'ready'] as const;
const unready = (seconds = 0) => [seconds, 'unready'] as const;

const GOOD: Behavior = [starting(), ready()];
export const QUICK: Version = { name: 'quick', isBroken: false, behavior: GOOD, isPartial: false };

const LONGEST_BACKOFF_S = 300;
/** A container that is ready for some seconds after each start; the kubelet restarts it with a growing backoff. */
const crashing = (readySeconds: number, times = 60): Behavior =>
  Array.from({ length: times }, (_, i): Behavior => {
    return [starting(), ready(readySeconds), [Math.min(10 * 2 ** i, LONGEST_BACKOFF_S), 'crashed']];
  }).flat();

/** Behaviors with weights. `stumbling` crashes before it is ready, `flapping` is unready for less than a minute. */
const WORKING = { quick: 6, slow: 3, stumbling: 2, flapping: 2 };
/** `crashing` is ready for a moment after each start, `dying` once. */
const BROKEN = { failing: 2, crashing: 4, dying: 2, hanging: 1 };

/** @param bakeSeconds a dying version is ready for less */
export function versionOf(random: Random, bakeSeconds: number): Version {
  const name = random.weighted({ ...WORKING, ...BROKEN });
  const some = random.integer(1, 20);
  const behaviors: Record<typeof name, Behavior> = {
    quick: GOOD,
    slow: [starting(some * 6), ready()],
    stumbling: [...crashing(0, 1 + (some % 3)), ...GOOD],
    flapping: [starting(), ready(60), unready(some), ready(60), unready(some), ready()],
    failing: crashing(0),
    crashing: crashing(some),
    dying: [starting(), ready((bakeSeconds * some) / 24), unready()],
    hanging: [starting()],
  };
  // Pods that flap in turn would be a workload that is unready for longer.
  const isPartial = random.next() < 0.3 || name === 'flapping';
  return { name, isBroken: name in BROKEN, behavior: behaviors[name], isPartial };
}

export const behaviorOf = ({ behavior, isPartial }: Version, index: number) =>
  isPartial && index > 0 ? GOOD : behavior;
