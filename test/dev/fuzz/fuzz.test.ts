/** A few thousand inputs of `npm run fuzz`, and tests that the fuzzer finds faults. */
import { describe, expect, it } from 'vitest';
import { callRoute } from '../../../dev/fuzz/families/routes.ts';
import { FAMILIES, type Family, fuzz, reportOf } from '../../../dev/fuzz/fuzz.ts';

const RUNS: Record<Family, number> = { mangled: 2000, rollout: 2000 };
/** Always the same inputs; `npm run fuzz` generates others. */
const SEED = 8;

describe('nothing is found', () => {
  it.each(FAMILIES)(`in inputs of kind %s (seed ${SEED})`, async (family) => {
    const found = await fuzz({ runs: RUNS[family], seed: SEED, only: family });
    expect(found.failed, reportOf(found)).toBe(false);
  });
});

describe('the fuzzer', () => {
  const route = (answer: () => Promise<unknown>) => ({ path: '/try', answer });

  it('takes an unexpected exception for a crash, and a clear refusal for an answer', async () => {
    await expect(
      callRoute(
        route(() => Promise.reject(new TypeError('x is not a function'))),
        {},
      ),
    ).rejects.toThrow('/try crashes');
    const refusal = Object.assign(new Error('no such thing'), { status: 400 });
    await expect(
      callRoute(
        route(() => Promise.reject(refusal)),
        {},
      ),
    ).resolves.toEqual({ status: 400, error: 'no such thing' });
  });

  it('takes an answer for a hang that takes far longer than parsing its body', async () => {
    const spin = async () => {
      for (const start = process.threadCpuUsage().user; process.threadCpuUsage().user - start < 150_000; );
      return {};
    };
    await expect(callRoute(route(spin), {})).rejects.toThrow('takes too long');
  });
});
