/** Go's `time.Duration(seconds * float64(time.Second))` on amd64, which Metacontroller computes delays with. */

const NANOSECONDS = 1_000_000_000;

/** Milliseconds. A float that does not fit into 64 bits becomes the least of all integers: a queue then adds at once. */
export function goDurationMs(seconds: number): number {
  const nanoseconds = seconds * NANOSECONDS;
  return Math.abs(nanoseconds) < 2 ** 63 ? Math.trunc(nanoseconds) / 1_000_000 : -(2 ** 63) / 1_000_000;
}
