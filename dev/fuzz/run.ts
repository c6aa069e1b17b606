/** Runs many cases, batch by batch: each batch has a seed of its own, so that any one can be replayed alone. */
import fc from 'fast-check';
import { anyCase, type Case, check, type Family } from './cases.ts';

const BATCH = 100;
/** A smaller input is looked for no longer than this. */
const SHRINK_MS = 60_000;

export interface Failure {
  /** With `path`: what replays it. */
  seed: number;
  path: string;
  smallest: Case;
  message: string;
}

export interface Progress {
  runs: number;
  perFamily: Partial<Record<Family, number>>;
}

export interface Plan {
  runs: number;
  seed: number;
  /** Only these inputs. */
  family?: Family | undefined;
  /** After each batch; answers whether to go on. */
  onBatch?(progress: Progress): boolean | Promise<boolean>;
}

/** undefined: clean. Ends early when `onBatch` says so. */
export async function fuzz({ runs, seed, family, onBatch }: Plan): Promise<Failure | undefined> {
  const progress: Progress = { runs: 0, perFamily: {} };
  for (let batch = 0; progress.runs < runs; batch++) {
    const failure = await runOnce(
      { seed: seed + batch, numRuns: Math.min(BATCH, runs - progress.runs) },
      family,
      progress,
    );
    if (failure) return failure;
    if (onBatch && !(await onBatch(progress))) return undefined;
  }
  return undefined;
}

/** The very input of a failure again. */
export function replay(seed: number, path: string, family: Family | undefined): Promise<Failure | undefined> {
  return runOnce({ seed, path, endOnFailure: true }, family, { runs: 0, perFamily: {} });
}

async function runOnce(
  parameters: { seed: number; numRuns?: number; path?: string; endOnFailure?: boolean },
  family: Family | undefined,
  progress: Progress,
): Promise<Failure | undefined> {
  const property = fc.asyncProperty(anyCase(family), async (each) => {
    progress.runs++;
    progress.perFamily[each.family] = (progress.perFamily[each.family] ?? 0) + 1;
    await check(each);
  });
  const found = await fc.check(property, { ...parameters, interruptAfterTimeLimit: SHRINK_MS });
  if (!found.failed || !found.counterexample) return undefined;
  const error = found.errorInstance as Error | undefined;
  return {
    seed: found.seed,
    path: found.counterexamplePath ?? '',
    smallest: found.counterexample[0],
    message: error?.name === 'Error' ? error.message : (error?.stack ?? String(error)),
  };
}
