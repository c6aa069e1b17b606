/** Generated Gates, and the requests that are made of them. */
import fc from 'fast-check';
import type { GateSpec } from '../../reference/gate.ts';

const time = fc
  .integer({ min: 0, max: 47 })
  .map((half) => `${String(half >> 1).padStart(2, '0')}:${half % 2 ? '30' : '00'}`);
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const day = fc
  .integer({ min: -6, max: 9 })
  .map((offset) => new Date(Date.UTC(2026, 2, 27 + offset)).toISOString().slice(0, 10));

const rule = fc.record(
  {
    timeRange: fc.record({ start: time, end: time }),
    daysOfWeek: fc.subarray(DAYS),
    dateRange: fc.tuple(day, day).map((days) => ({ start: days.sort()[0]!, end: days.sort()[1]! })),
  },
  { requiredKeys: [] },
);

/** Around the end of March the clocks of both change. */
export const calendar = fc.record({
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'),
  rules: fc.array(rule, { minLength: 1, maxLength: 3 }),
});

export const gateSpec: fc.Arbitrary<GateSpec> = fc
  .record({
    default: fc.constantFrom('opened' as const, 'closed' as const),
    window: fc.constantFrom(undefined, undefined, '90s', '1h', '1h30m', '26h', '0s'),
    schedule: fc.option(fc.tuple(calendar, fc.constantFrom('Open' as const, 'Close' as const, undefined)), {
      nil: undefined,
      freq: 3,
    }),
  })
  .map(({ window, schedule, ...spec }) => ({
    ...spec,
    ...(window !== undefined && { window }),
    ...(schedule && { schedule: { ...schedule[0], ...(schedule[1] && { action: schedule[1] }) } }),
  }));

export interface Ask {
  action: 'open' | 'close';
  /** Seconds from now. */
  offset: number;
  for?: string | undefined;
}

export const asks: fc.Arbitrary<Ask[]> = fc
  .uniqueArray(
    fc.record({
      action: fc.constantFrom('open' as const, 'close' as const),
      offset: fc.oneof(fc.constantFrom(0, 0, 0, 30, 60, 61, 3600), fc.integer({ min: -7200, max: 100_000 })),
      for: fc.constantFrom(undefined, undefined, undefined, '1.1.0', '1.2.0'),
    }),
    { minLength: 1, maxLength: 2, selector: ({ action }) => action },
  )
  .map((list) =>
    list.map(({ action, offset, for: version }) => ({
      action,
      offset,
      ...(action === 'open' && version && { for: version }),
    })),
  );

export const selects = fc.record(
  {
    kinds: fc.subarray(['Kustomization', 'OCIRepository', 'GitRepository', 'HelmRelease', 'Rollout'] as const),
    namespaceSelector: fc.constantFrom(
      {},
      { matchLabels: { team: 'a' } },
      { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['b'] }] },
    ),
    labelSelector: fc.constantFrom(
      {},
      { matchLabels: { tier: 'production' } },
      { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
    ),
  },
  { requiredKeys: [] },
);
