/** A few thousand inputs of `npm run fuzz`, and that the fuzzer finds what it looks for. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { FAMILIES, type Family } from '../../../dev/fuzz/cases.ts';
import { MemoryWatch } from '../../../dev/fuzz/memory.ts';
import { parseFuzzOptions } from '../../../dev/fuzz/options.ts';
import { fuzz } from '../../../dev/fuzz/run.ts';
import { ask } from '../../../dev/fuzz/world/call.ts';

// It measures, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** By kind: a story is a dozen writes and syncs. */
const RUNS: Partial<Record<Family, number>> = { mangled: 2000, rollout: 2000, story: 1000 };
const OTHER_RUNS = 300;
/** Always the same inputs: other ones are what `npm run fuzz` is for. */
const SEED = 8;

describe('nothing is found', () => {
  it.each(FAMILIES)(`in inputs of kind %s (seed ${SEED})`, { timeout: 120_000 }, async (family) => {
    const found = await fuzz({ runs: RUNS[family] ?? OTHER_RUNS, seed: SEED, family });
    expect(found, found?.message).toBeUndefined();
  });
});

describe('the fuzzer', () => {
  const route = (answer: () => Promise<unknown>) => ({ path: '/try', answer });

  it('takes an unexpected exception for a crash, and a clear refusal for an answer', async () => {
    await expect(
      ask(
        route(() => Promise.reject(new TypeError('x is not a function'))),
        {},
      ),
    ).rejects.toThrow('/try crashes');
    const refusal = Object.assign(new Error('no such thing'), { status: 400 });
    await expect(
      ask(
        route(() => Promise.reject(refusal)),
        {},
      ),
    ).resolves.toEqual({ status: 400, error: 'no such thing' });
  });

  it('takes an answer for a hang that takes far longer than parsing its body', { timeout: 120_000 }, async () => {
    const spin = async () => {
      for (const start = process.threadCpuUsage().user; process.threadCpuUsage().user - start < 150_000; );
      return {};
    };
    await expect(ask(route(spin), {})).rejects.toThrow('takes too long');
  });

  it('gives the same inputs for the same seed', async () => {
    const inputs = async () => {
      const seen: unknown[] = [];
      const { anyCase } = await import('../../../dev/fuzz/cases.ts');
      fc.assert(
        fc.property(anyCase(), (each) => void seen.push(each)),
        { seed: 3, numRuns: 20 },
      );
      return seen;
    };
    expect(await inputs()).toEqual(await inputs());
  });

  it('sees memory that grows', { timeout: 120_000 }, () => {
    const watch = new MemoryWatch();
    const kept: number[][] = [];
    for (let i = 0; i < 20; i++) {
      for (let j = 0; j < 50; j++) kept.push(new Array(10_000).fill(j));
      watch.sample();
    }
    expect(kept).toHaveLength(1000);
    expect(() => watch.judge()).toThrow('memory grows');
  });

  it.each([
    [['--runs', 'many'], '--runs many is not a whole number from 1 to 1000000000'],
    [['--only', 'nothing'], '--only nothing is not one of'],
    [['--replay', '1:2'], '--replay takes the path of a finding'],
    [['--frobnicate'], "Unknown option '--frobnicate'"],
  ])('refuses %j', (args, message) => {
    expect(() => parseFuzzOptions(args, () => 0)).toThrow(message);
  });
});
