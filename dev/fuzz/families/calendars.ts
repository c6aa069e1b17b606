/** RolloutSchedules: their RolloutGates and status, against dev/reference/calendar.ts. */
import fc from 'fast-check';
import { timestamp } from '../../actors/timestamp.ts';
import { composing } from '../../fakes/requests.ts';
import { type Calendar, isActive, nextChange } from '../../reference/calendar.ts';
import { callRoute, expectThat, ROUTES, reviewOf, serve } from './routes.ts';

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

/** A calendar around the end of March, when clocks change in Europe, and at another time in Australia. */
const calendar = fc.record({
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'),
  rules: fc.array(rule, { minLength: 1, maxLength: 3 }),
});

interface Scheduled {
  spec: Calendar;
  action: 'Allow' | 'Deny' | undefined;
  cluster: boolean;
  at: number;
}

export const scheduled: fc.Arbitrary<Scheduled> = fc.record({
  spec: calendar,
  action: fc.constantFrom('Allow' as const, 'Deny' as const, undefined),
  cluster: fc.boolean(),
  at: fc.integer({ min: 0, max: 9 * 24 * 60 }).map((minutes) => Date.UTC(2026, 2, 24) + minutes * 60_000),
});

export async function checkScheduled({ spec, action, cluster, at }: Scheduled): Promise<void> {
  const rollout = {
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'Rollout',
    metadata: { name: 'app', namespace: 'shop', uid: 'uid-app' },
    spec: { releasesImagePolicy: { name: 'app' } },
  };
  serve({ now: at, objects: [rollout] });
  const kind = cluster ? 'ClusterRolloutSchedule' : 'RolloutSchedule';
  const metadata = { name: 'hours', uid: 'uid-hours', generation: 1, ...(!cluster && { namespace: 'shop' }) };
  const parent = {
    apiVersion: 'kuberik.com/v1alpha1',
    kind,
    metadata,
    spec: { rolloutSelector: {}, ...spec, ...(action && { action }) },
  };
  const validate = ROUTES.get('/admission/validate/schedule')!;
  const review = await callRoute(validate, reviewOf('developer', { object: parent }));
  expectThat('body' in review && review.body.response.allowed, 'a schedule is refused', { parent, review });

  const answer = await callRoute(ROUTES.get(`/hooks/${kind.toLowerCase()}/sync`)!, composing(parent));
  if (!('body' in answer)) return expectThat(false, 'a sync is refused', { answer });
  const { children, status } = answer.body;
  const active = isActive(spec, at);
  const details = { at: timestamp(at), parent, status, children, active };
  expectThat(children.length === 1, 'there is not one RolloutGate for one Rollout', details);
  expectThat(
    (children[0].spec.passing === ((action ?? 'Deny') === 'Allow')) === active,
    "the RolloutGate doesn't follow the calendar",
    details,
  );
  expectThat((status.active ?? false) === active, "the status doesn't follow the calendar", details);
  const next = nextChange(spec, at);
  const seen = status.nextTransition === undefined ? undefined : Date.parse(status.nextTransition);
  // The reference doesn't look further ahead.
  if (next !== undefined || (seen !== undefined && seen < at + 15 * 86_400_000))
    expectThat(seen === next, 'the next transition is another one', { ...details, next: next && timestamp(next) });
}
