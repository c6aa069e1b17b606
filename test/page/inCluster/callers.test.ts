/** Which requests come from the page, where a sign-in may lead, and the rate limit. */
import { describe, expect, it } from 'vitest';
import { createRateLimit, localPath, refuseStranger } from '../../../page/inCluster/callers.ts';

const ORIGIN = 'https://rollouts.example.com';
const OWN = { 'x-rollouts-page': '1', origin: ORIGIN, 'sec-fetch-site': 'same-origin' };

describe('a request', () => {
  it.each([
    ['POST', OWN],
    ['GET', { 'x-rollouts-page': '1', 'sec-fetch-site': 'same-origin' }],
    ['GET', { 'x-rollouts-page': '1' }],
  ])('%s with %j comes from the page', (method, headers) => {
    expect(refuseStranger({ method, headers }, ORIGIN)).toBeUndefined();
  });

  it.each([
    ['POST', { ...OWN, origin: 'https://elsewhere.example' }],
    ['POST', { ...OWN, origin: 'null' }],
    ['POST', { 'x-rollouts-page': '1' }],
    ['GET', { ...OWN, origin: 'https://rollouts.example.com.elsewhere.example' }],
    ['GET', { ...OWN, 'sec-fetch-site': 'same-site' }],
    ['GET', { ...OWN, 'sec-fetch-site': 'none' }],
    ['GET', { ...OWN, 'sec-fetch-site': 'cross-site' }],
    ['GET', { 'sec-fetch-site': 'same-origin' }],
    ['POST', { origin: ORIGIN }],
  ])('%s with %j does not', (method, headers) => {
    expect(refuseStranger({ method, headers }, ORIGIN)).toMatchObject({ status: 403 });
  });
});

it.each([
  ['/rollout/shop/web?release=1', '/rollout/shop/web?release=1'],
  ['/gates', '/gates'],
  [null, '/'],
  ['', '/'],
  ['https://elsewhere.example/', '/'],
  ['//elsewhere.example', '/'],
  ['/\\elsewhere.example', '/'],
  ['/\t/elsewhere.example', '/'],
  ['/.//elsewhere.example', '/'],
  ['javascript:alert(1)', '/'],
  ['gates', '/'],
  ['/api/stream', '/'],
  ['/sign-in?to=/sign-in', '/'],
  ['/signed-in?code=1', '/'],
  [`/${'a'.repeat(1000)}`, '/'],
])('a sign-in for %j leads to %j', (to, path) => {
  expect(localPath(to, ORIGIN)).toBe(path);
});

it('may call as often as the limit, each by itself', () => {
  let now = 0;
  const isWithin = createRateLimit({ perSecond: 2, burst: 3, now: () => now });
  expect([1, 2, 3, 4].map(() => isWithin('alice'))).toEqual([true, true, true, false]);
  expect(isWithin('bob')).toBe(true);
  now += 500;
  expect([isWithin('alice'), isWithin('alice')]).toEqual([true, false]);
});
