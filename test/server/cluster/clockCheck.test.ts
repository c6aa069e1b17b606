import { expect, it } from 'vitest';
import { createClockCheck } from '../../../server/cluster/clockCheck.ts';
import type { Request } from '../../../server/cluster/connection.ts';
import { createLog } from '../../../server/log.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

/** A check with an API server whose clock is ahead of this one's by `offset`; undefined: it does not answer. */
function setup() {
  const api = { offset: 0 as number | undefined, meanwhile: () => {} };
  const own = { now: NOW, monotonic: 0 };
  const transport = {
    async send<T>(request: Request): Promise<T> {
      api.meanwhile();
      if (api.offset === undefined) throw new Error('no answer');
      request.dated?.(NOW + api.offset);
      return {} as T;
    },
    close: () => {},
  };
  const clock = createClockCheck({
    transport,
    now: () => own.now,
    monotonic: () => own.monotonic,
    log: createLog('silent'),
    metrics: { clockAhead: () => {} },
  });
  const after = async (offset: number | undefined) => {
    api.offset = offset;
    await clock.check();
    return clock.problem();
  };
  return { own, api, clock, after };
}

it.each([
  ['ahead', -61_001, "the clock is 60 s ahead of the API server's"],
  ['behind', 7_200_000, "the clock is 7200 s behind the API server's"],
  ['a minute ahead, in whole seconds', -61_000, undefined],
  ['a minute behind', 60_000, undefined],
])('a clock that is %s', async (_, offset, problem) => {
  expect(await setup().after(offset)).toBe(problem);
});

it('is a problem until it is right again, also while the API server does not answer', async () => {
  const { clock, after } = setup();
  expect(clock.problem()).toBeUndefined();
  expect(await after(undefined)).toBeUndefined();
  const problem = await after(3_600_000);
  expect(problem).toBeDefined();
  expect(await after(undefined)).toBe(problem);
  expect(await after(0)).toBeUndefined();
});

it('that is set wrong is a problem at once, before the next check', async () => {
  const { own, clock, after } = setup();
  await after(-30_000);
  own.now += 9_000;
  own.monotonic += 9_000;
  expect(clock.problem()).toBeUndefined();
  own.now += 7_200_000;
  expect(clock.problem()).toBe("the clock is 7229 s ahead of the API server's");
  own.now -= 7_200_000;
  expect(clock.problem()).toBeUndefined();
});

it('that is set wrong while the API server answers is a problem at once', async () => {
  const { own, api, after } = setup();
  api.meanwhile = () => {
    own.now += 7_200_000;
  };
  expect(await after(0)).toBe("the clock is 7200 s ahead of the API server's");
});
