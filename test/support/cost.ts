/** The cost of work in relation to its input, for rules on hostile input. Times alone vary on a busy machine. */

const TURNS = 7;

/** The duration of the work, as a multiple of the time to serialize and parse its input as JSON. */
export function costInReadings(input: unknown, work: () => unknown): number {
  let [cost, reading] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const read = () => JSON.parse(JSON.stringify(input));
  // In turns, and the shortest of many: when the machine is busy, both are slow.
  for (let turn = 0; turn < TURNS; turn++) {
    reading = Math.min(reading, duration(read));
    cost = Math.min(cost, duration(work));
    reading = Math.min(reading, duration(read));
  }
  return cost / Math.max(reading, 0.1);
}

// Not the thread's processor time: the kernel counts it in ticks of some milliseconds.
function duration(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
