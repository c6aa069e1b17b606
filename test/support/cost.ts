/** The cost of work in relation to its input, for rules on hostile input. Times alone vary on a busy machine. */

const ROUNDS = 3;
/** The least time that is measured: the kernel counts processor time in ticks of some milliseconds. */
const LEAST_MS = 20;

/** The processor time of the work, as a multiple of the time to serialize and parse its input as JSON. */
export function costInReadings(input: unknown, work: () => unknown): number {
  let [cost, reading] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const read = () => JSON.parse(JSON.stringify(input));
  // In turns, and the least of each: processes that share the caches and the core make both slow.
  for (let round = 0; round < ROUNDS; round++) {
    reading = Math.min(reading, processorTime(read));
    cost = Math.min(cost, processorTime(work));
  }
  return cost / Math.max(reading, 0.1);
}

/** Milliseconds of this thread for the work: the time in which it waits for the processor doesn't count. */
function processorTime(work: () => unknown): number {
  const start = process.threadCpuUsage();
  for (let times = 1; ; times++) {
    work();
    const { user, system } = process.threadCpuUsage(start);
    const used = (user + system) / 1000;
    if (used >= LEAST_MS) return used / times;
  }
}
