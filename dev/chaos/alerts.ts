/**
 * Checks alerts against the history of a run: every alert that fired has a cause, and every cause made its alert fire.
 */
import type { AnyObject } from '../client/send.ts';
import type { Series } from '../local/monitoring/prometheus.ts';
import type { SeenVersion } from '../oracle/writes.ts';
import type { Fault } from './faults.ts';

export interface Firing {
  alert: string;
  labels: Record<string, string>;
  fromMs: number;
  toMs: number;
}

/** A period; `to` is absent while it lasts. */
interface Span {
  from: number;
  to?: number;
}

interface RolloutSpans {
  /** Periods of the newest deployment's states. */
  heads: (Span & { state: string; tag: string })[];
  /** Periods in which the newest deployment was an automatic rollback. */
  rollbacks: (Span & { tag: string })[];
  /** Periods in which Ready had the reason RolloutFailed. */
  notReady: Span[];
}

export interface Load {
  ms: number;
  /** Load of the machine per core. */
  load: number;
}

export interface RunHistory {
  /** By `namespace/name`. */
  rollouts: ReadonlyMap<string, RolloutSpans>;
  faults: readonly Fault[];
  /** Times at which users bypassed Gates. */
  bypasses: readonly number[];
  loads: readonly Load[];
  /** The largest value of the alert's query in NUMBERS while it fired. */
  measured?: number | undefined;
}

const ROLLOUT = /^\/registry\/kuberik\.com\/rollouts\/([^/]+\/[^/]+)$/;
const MINUTE_MS = 60_000;
/** Tolerance for scrapes, evaluations, and states between two scrapes. */
const LATE_MS = 2 * MINUTE_MS;
/** The load per core from which alerts about latency count as true. */
const OVERLOAD = 2;
/** Share of failed deployments. The alert requires half, but counts a little later. */
const FAILED_SHARE = 0.4;

/** Queries of the alerts about the hook server itself. */
export const NUMBERS: Readonly<Record<string, string>> = {
  RolloutHooksDropped: 'sum(increase(rollout_hooks_dropped_total[1h]))',
  RolloutHooksRefusing:
    'max(sum by (route, outcome) (rate(rollout_hooks_request_duration_seconds_count{outcome!="answered"}[5m])))',
  RolloutHooksAdmissionSlow:
    'histogram_quantile(0.99, sum by (le) (rate(rollout_hooks_request_duration_seconds_bucket{route=~"/admission/.*"}[5m])))',
  RolloutHooksEventLoopSlow: 'max(nodejs_eventloop_lag_p99_seconds)',
};

/** Records the periods of the Rollouts' states, from stored versions in order. */
export function spanRecorder() {
  const rollouts = new Map<string, RolloutSpans>();
  return {
    rollouts,
    take({ key, object, seenMs }: SeenVersion): void {
      const name = ROLLOUT.exec(key)?.[1];
      if (name === undefined) return;
      const spans = rollouts.get(name) ?? { heads: [], rollbacks: [], notReady: [] };
      rollouts.set(name, spans);
      const head = object?.status?.history?.[0];
      const ready = object?.status?.conditions?.find(({ type }: AnyObject) => type === 'Ready');
      const hasFailed = ready?.status === 'False' && ready.reason === 'RolloutFailed';
      setState(spans.heads, head && { state: head.bakeStatus ?? '', tag: head.version.tag }, seenMs);
      setState(spans.rollbacks, head?.rolledBackFrom && { tag: head.version.tag }, seenMs);
      setState(spans.notReady, hasFailed ? {} : undefined, seenMs);
    },
  };
}

/** Starts a new span and ends the last one, unless the state is unchanged. */
function setState<S extends Span>(spans: S[], now: Omit<S, 'from' | 'to'> | undefined, ms: number): void {
  const last = spans.at(-1);
  const open = last && last.to === undefined ? last : undefined;
  if (open && now && Object.entries(now).every(([key, value]) => open[key as keyof S] === value)) return;
  if (open) open.to = ms;
  if (now) spans.push({ ...now, from: ms } as S);
}

type Cause = (firing: Firing, history: RunHistory) => string | undefined;

/** Causes of alerts. An alert that isn't here has no cause in chaos. */
const CAUSES: Readonly<Record<string, Cause>> = {
  RolloutBakeFailed: (firing, history) => {
    const span = spanOf(firing, headsOf(firing, history, 'Failed'), MINUTE_MS);
    return span && `${span.tag} was Failed since ${clock(span.from)}`;
  },
  RolloutRolledBack: (firing, { rollouts }) => {
    const span = spanOf(firing, rollouts.get(nameOf(firing))?.rollbacks ?? [], MINUTE_MS);
    return span && `${span.tag} was deployed by a rollback since ${clock(span.from)}`;
  },
  RolloutDeploymentStuck: (firing, history) => {
    const span = spanOf(firing, headsOf(firing, history, 'Deploying'), 30 * MINUTE_MS);
    return span && `${span.tag} was Deploying since ${clock(span.from)}`;
  },
  RolloutNotReady: (firing, { rollouts }) => {
    const span = spanOf(firing, rollouts.get(nameOf(firing))?.notReady ?? [], 15 * MINUTE_MS);
    return span && `Ready was RolloutFailed since ${clock(span.from)}`;
  },
  RolloutsFailOften: ({ fromMs }, { rollouts }) => {
    const ended = [...rollouts.values()]
      .flatMap(({ heads }) => heads)
      .filter(({ state, from }) => from <= fromMs && ['Succeeded', 'Failed'].includes(state));
    const failed = ended.filter(({ state }) => state === 'Failed').length;
    return failed > FAILED_SHARE * ended.length ? `${failed} of ${ended.length} deployments had failed` : undefined;
  },
  RolloutHooksGateBypassed: (firing, { bypasses }) => {
    const ms = bypasses.findLast((at) => isBefore(at, firing, 15 * MINUTE_MS));
    return ms === undefined ? undefined : `a Gate was bypassed at ${clock(ms)}`;
  },
  // The first query covers an hour, the others five minutes, and must hold for ten.
  RolloutHooksDropped: (firing, history) => ofServer(firing, history, 60 * MINUTE_MS),
  RolloutHooksRefusing: (firing, history) => ofServer(firing, history, 15 * MINUTE_MS),
  RolloutHooksAdmissionSlow: (firing, history) => ofServer(firing, history, 15 * MINUTE_MS),
  RolloutHooksEventLoopSlow: (firing, history) => ofServer(firing, history, 15 * MINUTE_MS),
};

/** Alerts that may fire. */
export const EXPECTED: readonly string[] = Object.keys(CAUSES);

/** The cause of an alert that fired; undefined without one. */
export const explain = (firing: Firing, history: RunHistory): string | undefined =>
  CAUSES[firing.alert]?.(firing, history);

/** Failures that lasted long enough and whose alert didn't fire. */
export function missed(
  { rollouts }: Pick<RunHistory, 'rollouts'>,
  firings: readonly Firing[],
  endMs: number,
): string[] {
  const missing = (name: string, alert: string, spans: readonly Span[], leastMs: number) =>
    spans
      .filter(({ from, to = endMs }) => to - from > leastMs + LATE_MS)
      .filter(({ from, to = endMs }) => {
        const own = firings.filter((one) => one.alert === alert && nameOf(one) === name);
        return !own.some(({ fromMs, toMs }) => fromMs <= to + LATE_MS && toMs >= from);
      })
      .map(({ from }) => `${alert} of ${name} did not fire, though its condition held since ${clock(from)}`);
  return [...rollouts].flatMap(([name, { heads, rollbacks, notReady }]) => [
    ...missing(name, 'RolloutBakeFailed', ofState(heads, 'Failed'), MINUTE_MS),
    ...missing(name, 'RolloutRolledBack', rollbacks, MINUTE_MS),
    ...missing(name, 'RolloutNotReady', notReady, 15 * MINUTE_MS),
  ]);
}

/** The firings of alerts, from the values of ALERTS{alertstate="firing"}: one for each period without a gap. */
export function firingsOf(series: readonly Series[], stepSeconds: number): Firing[] {
  return series.flatMap(({ metric, values }) => {
    const { alertname = '', __name__, alertstate, ...labels } = metric;
    const firings: Firing[] = [];
    for (const [seconds] of values) {
      const last = firings.at(-1);
      const ms = seconds * 1000;
      if (last && ms - last.toMs < 3 * stepSeconds * 1000) last.toMs = ms;
      else firings.push({ alert: alertname, labels, fromMs: ms, toMs: ms });
    }
    return firings;
  });
}

const clock = (ms: number) => new Date(ms).toISOString().slice(11, 19);
const nameOf = ({ labels }: Firing) => `${labels.namespace}/${labels.name}`;
const ofState = (heads: RolloutSpans['heads'], wanted: string) => heads.filter(({ state }) => state === wanted);
const headsOf = (firing: Firing, { rollouts }: RunHistory, state: string) =>
  ofState(rollouts.get(nameOf(firing))?.heads ?? [], state);
const isBefore = (ms: number, { fromMs }: Firing, withinMs: number) => ms <= fromMs && ms > fromMs - withinMs - LATE_MS;

/** The span that had lasted for `forMs` when the alert fired, and lasted until the alert ended. */
function spanOf<S extends Span>({ fromMs, toMs }: Firing, spans: readonly S[], forMs: number): S | undefined {
  return spans.find(
    ({ from, to = Number.POSITIVE_INFINITY }) => from + forMs <= fromMs + LATE_MS && toMs <= to + LATE_MS,
  );
}

/** The cause of an alert about the server: its measured value, and an earlier fault or a high load. */
function ofServer(firing: Firing, { faults, loads, measured }: RunHistory, withinMs: number): string | undefined {
  if (!measured) return undefined;
  const fault = faults.findLast(({ ms }) => isBefore(ms, firing, withinMs));
  if (fault) return `measured: ${measured.toFixed(2)}, after ${fault.name} was ${fault.what} at ${clock(fault.ms)}`;
  const { fromMs } = firing;
  const most = Math.max(0, ...loads.filter(({ ms }) => ms > fromMs - withinMs && ms <= fromMs).map(({ load }) => load));
  return most > OVERLOAD
    ? `measured: ${measured.toFixed(2)}, at a load of ${most.toFixed(1)} for each core`
    : undefined;
}
