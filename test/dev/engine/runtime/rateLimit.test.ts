import { describe, expect, it } from 'vitest';
import { TokenBucket } from '../../../../dev/engine/runtime/rateLimit.ts';

describe('token bucket', () => {
  it('allows a burst, then one request every 1/qps seconds', () => {
    const bucket = new TokenBucket(10, 3);
    const waits = Array.from({ length: 5 }, () => bucket.reserve(0));
    expect(waits).toEqual([0, 0, 0, 100, 200]);
  });

  it('fills up with time, but not above the burst', () => {
    const bucket = new TokenBucket(10, 3);
    for (let taken = 0; taken < 3; taken += 1) bucket.reserve(0);
    const waits = Array.from({ length: 4 }, () => bucket.reserve(60_000));
    expect(waits).toEqual([0, 0, 0, 100]);
  });
});
