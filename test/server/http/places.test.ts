import { expect, it } from 'vitest';
import { createPlaces } from '../../../server/http/places.ts';
import { SERVER_LIMITS } from '../../../server/http/serverLimits.ts';

const { requestsAtOnce, answeredOfNamespace: perKey, waitingAtOnce: mostWaiting } = SERVER_LIMITS;

/** How many of the requests aren't refused, but answered or waiting. */
async function held(requests: Promise<boolean>[]): Promise<number> {
  let refused = 0;
  for (const request of requests) void request.then((isTaken) => (refused += isTaken ? 0 : 1));
  await Promise.resolve();
  return requests.length - refused;
}

it('the requests of seven namespaces leave room for those of others', async () => {
  const places = createPlaces({ perKey, mostWaiting });
  const tenant = Array.from({ length: 7 }, (_, i) => `tenant-${i}`);
  const flood = tenant.flatMap((name) => Array.from({ length: requestsAtOnce }, () => places.take(name)));
  expect(await held(flood)).toBeLessThan(requestsAtOnce);
  expect(await places.take('other')).toBe(true);
});

it('a namespace that waits alone may have half of those that wait, and more once they are answered', async () => {
  const places = createPlaces({ perKey, mostWaiting });
  const take = (count: number) => Array.from({ length: count }, () => places.take('shop'));
  expect(await held(take(requestsAtOnce))).toBe(perKey + mostWaiting / 2);
  expect(await places.take('shop')).toBe(false);
  places.leave('shop');
  expect(await held(take(2))).toBe(1);
});
