/**
 * The number of objects that one call of a hook or webhook reads concurrently. Calls share the connections to the API
 * server (`connect` in main.ts), and a tenant can make one call read hundreds of objects. A Rollout's call evaluates
 * the same number of HealthChecks concurrently, each with its own reads.
 */
export const READS_AT_ONCE = 8;

/**
 * The results in the order of the items, of which at most `atOnce` are processed concurrently. Rejects with the first
 * error.
 */
export async function inParallel<In, Out>(
  items: readonly In[],
  work: (item: In) => Promise<Out>,
  atOnce = READS_AT_ONCE,
): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
