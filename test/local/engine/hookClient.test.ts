import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../local/engine/clock.ts';
import type { HookSpec } from '../../../local/engine/controllerSpec.ts';
import { hookAgent, hookClient, retryAfterSeconds } from '../../../local/engine/hookClient.ts';

describe('Retry-After', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  it.each([
    ['120', 120],
    ['Tue, 01 Jan 2030 00:00:30 GMT', 30],
    ['Mon, 31 Dec 2029 23:59:00 GMT', -60],
    ['', 0],
    ['soon', 0],
  ])('%j is %d s', (header, seconds) => {
    expect(retryAfterSeconds(header, now)).toBe(seconds);
  });
});

describe('hook of a controller', () => {
  const client = (hook: HookSpec | undefined) => hookClient('sync', hook, hookAgent(), systemClock);
  const url = 'http://127.0.0.1:8080/sync';

  it('is not there when it is not defined', () => {
    expect(client(undefined)).toBeUndefined();
  });

  it.each<[string, HookSpec, boolean]>([
    ['strict by default', { version: 'v2', webhook: { url } }, true],
    ['loose when it says so', { version: 'v2', webhook: { url, responseUnMarshallMode: 'loose' } }, false],
  ])('is %s', (_what, hook, strict) => {
    expect(client(hook)?.strict).toBe(strict);
  });

  it.each<[string, HookSpec, RegExp]>([
    ['version v1', { version: 'v1', webhook: { url } }, /only version v2/],
    ['no version, which is v1', { webhook: { url } }, /only version v2/],
    ['an ETag cache', { version: 'v2', webhook: { url, etag: { enabled: true } } }, /etag/],
    ['authentication', { version: 'v2', webhook: { url, basicAuth: {} } }, /authentication/],
    ['no address', { version: 'v2', webhook: { path: '/sync' } }, /give either url, or path and service/],
  ])('with %s is refused', (_what, hook, message) => {
    expect(() => client(hook)).toThrow(message);
  });
});
