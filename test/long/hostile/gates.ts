/** Gates and schedules that any tenant may write in its own namespace. */
import { gate, type Input, kustomization, object, review, rollout, synced, text, times, written } from './input.ts';

const hhmm = (minutes: number) =>
  `${String(Math.floor(minutes / 60) % 24).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

/** Adjacent windows for the whole day: the active rule changes, but the Gate doesn't. */
const adjoining = times(64, (i) => ({ timeRange: { start: hhmm(i * 22), end: hhmm((i + 1) * 22) } }));
/** Windows whose action is the Gate's default: each start and end changes nothing. */
const changesNothing = {
  timezone: 'Europe/Berlin',
  action: 'Open',
  rules: times(64, (i) => ({ timeRange: { start: hhmm(i * 22), end: hhmm(i * 22 + 11) } })),
};
const centuries = {
  timezone: 'America/New_York',
  action: 'Close',
  rules: times(64, (i) => ({
    dateRange: { start: `${1000 + i * 100}-01-01`, end: `${1099 + i * 100}-12-31` },
    daysOfWeek: ['Monday'],
    timeRange: { start: '23:59', end: '00:01' },
  })),
};
const farAway = {
  timezone: 'Europe/Berlin',
  rules: times(64, (i) => ({
    dateRange: { start: `99${i + 10}-02-28`, end: `99${i + 10}-02-28` },
    daysOfWeek: ['Saturday'],
  })),
};

/** Inputs for a Gate: its sync, a write of it, and a write of an object that names it. */
function scheduled(name: string, spec: object): Record<string, () => Input> {
  const about = gate({ spec });
  const marked = kustomization({ metadata: { annotations: { 'gate.fluxcd.io/gates': 'web' } } });
  const moved = { ...marked, spec: { ...marked.spec, path: './new' } };
  return {
    [`${name}: sync of the Gate`]: () => synced('gate', about),
    [`${name}: write of the Gate`]: () => written('gate', about, about),
    [`${name}: write of an object that requires it`]: () => written('flux', moved, marked, [about]),
  };
}

const annotated = (annotations: Record<string, string>): Input =>
  written('gate', gate({ metadata: { annotations } }), gate({ metadata: { annotations } }));

const schedule = (spec: object, rollouts: number): Input =>
  synced(
    'rolloutschedule',
    object('kuberik.com/v1alpha1', 'RolloutSchedule', { spec: { rolloutSelector: {}, ...spec } }),
    times(rollouts, (i) => rollout({ metadata: { name: `r${i}`, uid: `u${i}`, labels: { app: `r${i}` } } })),
  );

const manyValues = (count: number) => ({
  matchExpressions: [{ key: 'app', operator: 'NotIn', values: times(count, (i) => `v${i}`) }],
});
const ASKED = '2026-03-04T09:59:00Z';
const call = (i: number) => `${Date.parse(ASKED) / 1000}:${`${i}`.padStart(16, '0')}.${`${i}`.padStart(16, 'a')}`;

export const GATES: Record<string, () => Input> = {
  ...scheduled('64 windows that adjoin', { schedule: { timezone: 'Europe/Berlin', rules: adjoining } }),
  ...scheduled('64 windows that change nothing', { schedule: changesNothing }),
  ...scheduled('64 rules with ranges of centuries', { schedule: centuries }),
  ...scheduled('64 rules at the end of time', { schedule: farAway }),
  'closed until the end of time': () => {
    const annotations = { 'close.gate.fluxcd.io/requestedAt': '9999-12-31T23:59:59Z' };
    return synced('gate', gate({ metadata: { annotations }, spec: { window: '9999999h' } }));
  },
  '256 kB of accepted-request': () =>
    annotated({ 'gate.fluxcd.io/accepted-request': `{"current":${'['.repeat(120_000)}${']'.repeat(120_000)}}` }),
  '256 kB of used-calls': () => annotated({ 'gate.fluxcd.io/used-calls': times(4000, call).join(',') }),
  '256 kB of a reason': () =>
    annotated({ 'close.gate.fluxcd.io/requestedAt': ASKED, 'close.gate.fluxcd.io/reason': text(250) }),
  '256 kB of a version': () =>
    annotated({ 'open.gate.fluxcd.io/requestedAt': ASKED, 'open.gate.fluxcd.io/for': text(250, '1.') }),
  'a window of 250 kB': () => written('gate', gate({ spec: { window: text(250, '1h') } })),
  'a selector with 10,000 values': () => {
    const selects = { labelSelector: manyValues(10_000), namespaceSelector: manyValues(10_000) };
    return written('gate', gate({ spec: { selects } }));
  },
  'a sync of a Gate with a selector of 9,000 values, among 5,000 objects': () => {
    const large = gate({ spec: { default: 'closed', selects: { labelSelector: manyValues(9000) } } });
    const stored = times(5000, (i) => kustomization({ metadata: { name: `k${i}`, uid: `u${i}`, labels: { a: 'b' } } }));
    return synced('gate', large, [], stored);
  },
  '5,000 bindings and 5,000 Rollouts in the way of a deletion': () => {
    const gates = times(10, (j) => ({ namespace: 'shop', name: j === 9 ? 'web' : `g${j}` }));
    const bindings = times(5000, (i) => {
      const spec = { target: { kind: 'Kustomization', name: `b${i}` }, gates };
      return object('kuberik.com/v1alpha1', 'FluxBinding', { metadata: { name: `b${i}` }, spec });
    });
    const rollouts = times(5000, (i) => rollout({ metadata: { name: `r${i}` }, spec: { gates: [{ name: 'web' }] } }));
    const body = review(null, gate({ spec: { default: 'closed' } }));
    return { paths: ['/admission/validate/gate'], body, stored: [...bindings, ...rollouts] };
  },
  'a schedule for 2,000 Rollouts': () =>
    schedule({ timezone: 'Europe/Berlin', rules: [{ daysOfWeek: ['Friday'] }] }, 2000),
  'a schedule with a selector of 5,000 values, 1,000 Rollouts': () =>
    schedule({ rolloutSelector: manyValues(5000), rules: [{ daysOfWeek: ['Friday'] }] }, 1000),
  'a schedule of 64 rules with ranges of centuries': () => schedule(centuries, 1),
};
