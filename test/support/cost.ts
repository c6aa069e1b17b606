/** The cost of work in relation to its input, for rules on hostile input. Times alone vary on a busy machine. */

const TURNS = 7;

/** The processor time of the work, as a multiple of the time to serialize and parse its input as JSON. */
export function costInReadings(input: unknown, work: () => unknown): number {
  let [cost, reading] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const read = () => JSON.parse(JSON.stringify(input));
  // In turns: when the machine is busy, both are slow.
  for (let turn = 0; turn < TURNS; turn++) {
    reading = Math.min(reading, processorTime(read));
    cost = Math.min(cost, processorTime(work));
    reading = Math.min(reading, processorTime(read));
  }
  return cost / Math.max(reading, 0.1);
}

/** In milliseconds. */
function processorTime(work: () => unknown): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}
