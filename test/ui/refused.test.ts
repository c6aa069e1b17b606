import { expect, it } from 'vitest';
import { Refused } from '../../ui/state/refused.ts';

it.each([
  ['no answer, as while the server starts', 0, false],
  ['502 of an Ingress while the server restarts', 502, false],
  ['503 while too many users have the page open', 503, false],
  ['429 for too many requests', 429, false],
  ['401 without a session or a valid key', 401, true],
  ['403 for a request of another page', 403, true],
  ['421 for another host', 421, true],
])('the stream is asked for again after %s: %i', (_, status, isFinal) => {
  expect(new Refused(status, '').isFinal).toBe(isFinal);
});
