/** Whether memory grows: what is in use after collecting garbage, at the beginning of a run and at its end. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Finding } from './world/finding.ts';

const MIB = 1024 * 1024;
/** A warm process still compiles code and fills what it remembers up to its limit. */
const ALLOWED = { heap: { factor: 1.1, bytes: 16 * MIB }, rss: { factor: 1.25, bytes: 64 * MIB } };
/** With fewer samples a quarter says nothing. */
const LEAST_SAMPLES = 16;

export interface Memory {
  heapMiB: [first: number, last: number];
  rssMiB: [first: number, last: number];
}

export class MemoryWatch {
  private readonly heap: number[] = [];
  private readonly rss: number[] = [];
  private readonly collect: () => void;

  constructor() {
    setFlagsFromString('--expose-gc');
    this.collect = runInNewContext('gc');
  }

  sample(): void {
    this.collect();
    const { heapUsed, rss } = process.memoryUsage();
    this.heap.push(heapUsed);
    this.rss.push(rss);
  }

  /** undefined while there are too few samples. */
  get result(): Memory | undefined {
    if (this.heap.length < LEAST_SAMPLES) return undefined;
    return { heapMiB: quarters(this.heap), rssMiB: quarters(this.rss) };
  }

  /** @throws Finding where the last quarter takes more than the first. */
  judge(): void {
    const found = this.result;
    if (!found) return;
    for (const [what, [first, last]] of [['heap', found.heapMiB] as const, ['rss', found.rssMiB] as const]) {
      const { factor, bytes } = ALLOWED[what];
      if (last > first * factor + bytes / MIB)
        throw new Finding(
          `memory grows: ${what} ${first.toFixed(0)} MiB in the first quarter, ${last.toFixed(0)} MiB in the last`,
        );
    }
  }
}

function quarters(values: readonly number[]): [number, number] {
  const quarter = Math.floor(values.length / 4);
  const median = (of: number[]) => of.sort((a, b) => a - b)[Math.floor(of.length / 2)]! / MIB;
  return [median(values.slice(0, quarter)), median(values.slice(-quarter))];
}
