import { expect, it } from 'vitest';
import { createRequestLimit } from '../../../server/http/requestLimit.ts';
import { SERVER_LIMITS } from '../../../server/http/serverLimits.ts';

const { requestsAtOnce, answeredOfNamespace: perKey } = SERVER_LIMITS;

/** How many of the requests aren't refused, but answered or waiting. */
async function held(requests: Promise<boolean>[]): Promise<number> {
  let refused = 0;
  for (const request of requests) void request.then((isTaken) => (refused += isTaken ? 0 : 1));
  await Promise.resolve();
  return requests.length - refused;
}

it.each([7, 16, 100])('the requests of %i namespaces leave room for those of others', async (count) => {
  const limit = createRequestLimit({ perKey, atOnce: requestsAtOnce });
  const tenant = Array.from({ length: count }, (_, i) => `tenant-${i}`);
  const flood = Array.from({ length: requestsAtOnce }, () => tenant.map((name) => limit.enter(name))).flat();
  expect(await held(flood)).toBeLessThan(requestsAtOnce);
  expect(await limit.enter('other')).toBe(true);
});

it('a namespace that is alone may have half of all, and more once they are answered', async () => {
  const limit = createRequestLimit({ perKey, atOnce: requestsAtOnce });
  const take = (count: number) => Array.from({ length: count }, () => limit.enter('shop'));
  expect(await held(take(requestsAtOnce))).toBe(requestsAtOnce / 2);
  expect(await limit.enter('shop')).toBe(false);
  limit.leave('shop');
  expect(await held(take(2))).toBe(1);
});
