/**
 * The counters of rollout-hooks. To add a metric: docs/extending.md, *A metric*.
 * Labels have only the values that are listed here, so that tenants can't create series.
 */
export const COUNTERS = {
  rollout_hooks_deployments_total: {
    help: 'Deployments started, by kind: automatic, manual, rollback',
    labels: { kind: ['automatic', 'manual', 'rollback'] },
  },
  rollout_hooks_bakes_total: {
    help: 'Bakes ended, by result: succeeded, failed, cancelled (by another version)',
    labels: { result: ['succeeded', 'failed', 'cancelled'] },
  },
  rollout_hooks_copies_total: {
    help: "Releases copied to a Rollout's spec.targetRepository, and copies that failed",
    labels: { result: ['copied', 'failed'] },
  },
  rollout_hooks_admission_denials_total: {
    help: 'Writes that the admission webhook denied, by reason; dry runs count',
    labels: { reason: ['gate_closed', 'managed_field', 'invalid', 'limit', 'not_permitted', 'overwritten'] },
  },
  rollout_hooks_admission_reverts_total: {
    help: 'Writes that the admission webhook admitted without their changes: applies of objects that closed Gates hold (gate_closed), other values of managed fields (managed_field). kustomize-controller sends two at each sync',
    labels: { reason: ['gate_closed', 'managed_field'] },
  },
  rollout_hooks_gate_bypasses_total: {
    help: 'Writes that bypassed closed Gates',
    labels: {},
  },
  rollout_hooks_receiver_requests_total: {
    help: 'Signed calls and calls with an ID token (hook), webhooks of Flagger (flagger) and requests for inputs (inputs), by HTTP status',
    labels: {
      endpoint: ['hook', 'flagger', 'inputs'],
      code: ['200', '400', '401', '403', '404', '405', '409', '413', '429', '500', '503'],
    },
  },
  rollout_hooks_api_requests_total: {
    help: 'Requests to the API server: reads and access reviews for admission, hooks and HealthChecks (health), Events and other reads (background)',
    labels: { caller: ['admission', 'hooks', 'health', 'background'] },
  },
  rollout_hooks_dropped_total: {
    help: 'Side effects dropped after several tries, or with too many waiting: events, notifications, metadata',
    labels: { what: ['events', 'notifications', 'metadata'] },
  },
} as const satisfies Record<string, { help: string; labels: Record<string, readonly string[]> }>;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Histograms of the durations of a Rollout's steps, from a minute to months. They have no labels. */
export const DURATIONS = {
  rollout_hooks_lead_time_seconds: {
    help: 'From the build of a release (org.opencontainers.image.created) to the start of its bake, or without a bake until Flux has applied it everywhere. Only the first successful deployment of each version, no rollbacks. Unknown for a build time in the future or more than a year ago, and often without a bake, which may end before the registry has answered',
    buckets: [5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY, 180 * DAY],
  },
  rollout_hooks_delivery_time_seconds: {
    help: 'From the discovery of a release to the end of its lead time: the time that Gates, RolloutGates, upstream Rollouts, budgets and earlier bakes took',
    buckets: [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY],
  },
  rollout_hooks_restore_time_seconds: {
    help: 'From the failure of a bake, the first of several in a row, to the start of the next successful one of its Rollout: a rollback, a retry or another version',
    buckets: [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY],
  },
} as const satisfies Record<string, { help: string; buckets: readonly number[] }>;

export type DurationName = keyof typeof DURATIONS;

/** One measured duration: `{ name: 'rollout_hooks_restore_time_seconds', seconds: 90, key: 'u/12' }`. */
export interface Duration {
  name: DurationName;
  seconds: number;
  /** Identifies the occurrence: it is measured once, even if the sync or admission request is repeated. */
  key?: string;
}

type Counters = typeof COUNTERS;
export type CounterName = keyof Counters;

type LabelsOf<Name extends CounterName> = {
  -readonly [Label in keyof Counters[Name]['labels']]: Counters[Name]['labels'][Label] extends readonly (infer Value)[]
    ? Value
    : never;
};

/** One increment of a counter: `{ name: 'rollout_hooks_bakes_total', labels: { result: 'failed' } }`. */
export type Count = {
  [Name in CounterName]: {
    name: Name;
    labels: LabelsOf<Name>;
    /** The increment; 1 when absent. */
    times?: number;
    /** Identifies the occurrence: it counts once, even if the sync or admission request is repeated. */
    key?: string;
  };
}[CounterName];

export type RevertReason = LabelsOf<'rollout_hooks_admission_reverts_total'>['reason'];
export type ApiCaller = LabelsOf<'rollout_hooks_api_requests_total'>['caller'];
export type DenialReason = LabelsOf<'rollout_hooks_admission_denials_total'>['reason'];
