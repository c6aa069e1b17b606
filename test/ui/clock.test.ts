import { expect, it, vi } from 'vitest';

it('a time that cannot be read does not end the page', async () => {
  // The clock ticks from its import on.
  vi.useFakeTimers();
  const { fullTime } = await import('../../ui/state/clock.ts');
  expect(fullTime(Date.parse('2026-11-27T10:00:00+99:99'))).toBe('an unknown time');
  vi.useRealTimers();
});
