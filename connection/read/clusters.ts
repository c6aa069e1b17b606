/** Reads several clusters at once. A cluster that does not answer does not delay the others. */
import { setTimeout as wait } from 'node:timers/promises';
import { problemOf } from '../kube/apiProblems.ts';
import type { Cluster } from '../kube/cluster.ts';

export interface ClusterAnswer<T> {
  /** The name of the cluster's context. */
  cluster: string;
  value?: T;
  /** Why there is no value: a sentence. */
  problem?: string;
}

/** The time to wait for first answers, so that most clusters appear in their order. */
const FIRST_ANSWERS_MS = 2000;

/** The answers of the clusters: first those within FIRST_ANSWERS_MS, then each when it comes. */
export async function* answersOf<T>(
  clusters: readonly Cluster[],
  read: (cluster: Cluster) => Promise<T>,
  signal: AbortSignal,
): AsyncGenerator<ClusterAnswer<T>[]> {
  const answered = new Map<Cluster, ClusterAnswer<T>>();
  const pending = new Map(
    clusters.map((cluster) => [cluster, answerOf(cluster, read).then((answer) => void answered.set(cluster, answer))]),
  );
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([Promise.all(pending.values()), wait(FIRST_ANSWERS_MS, undefined, { ref: false }), aborted]);
  while (pending.size > 0 && !signal.aborted) {
    const done = clusters.filter((cluster) => pending.has(cluster) && answered.has(cluster));
    for (const cluster of done) pending.delete(cluster);
    if (done.length > 0) yield done.map((cluster) => answered.get(cluster)!);
    else await Promise.race([...pending.values(), aborted]);
  }
}

async function answerOf<T>(cluster: Cluster, read: (cluster: Cluster) => Promise<T>): Promise<ClusterAnswer<T>> {
  const { selected } = cluster;
  try {
    return { cluster: selected.context, value: await read(cluster) };
  } catch (error) {
    const problem = problemOf(error, selected);
    if (!problem) throw error;
    return { cluster: selected.context, problem: problem.message };
  }
}
