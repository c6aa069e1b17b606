/** The cost of work in relation to its input, for rules on hostile input: times alone vary on a busy machine. */

/** The duration of the work, as a multiple of the time to serialize and parse its input as JSON. */
export function costInReadings(input: unknown, work: () => unknown): number {
  const reading = fastest(5, () => JSON.parse(JSON.stringify(input)));
  return fastest(2, work) / reading;
}

function fastest(runs: number, work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    work();
    best = Math.min(best, performance.now() - start);
  }
  return Math.max(best, 0.1);
}
