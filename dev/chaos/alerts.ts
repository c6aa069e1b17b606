/** Whether each alert that fired was true, by what was stored and done; and whether what should have fired did. */
import type { AnyObject } from '../client/send.ts';
import type { SeenVersion } from '../judges/writes.ts';
import type { Series } from '../local/monitoring/prometheus.ts';
import type { Fault } from './faults.ts';

/** An alert that has fired. */
export interface Firing {
  alert: string;
  labels: Record<string, string>;
  fromMs: number;
  toMs: number;
}

/** A time in which something was so; `to` is absent while it is. */
interface Span {
  from: number;
  to?: number;
}

interface RolloutSpans {
  /** By state of the newest deployment. */
  heads: (Span & { state: string; tag: string })[];
  /** Ready was RolloutFailed. */
  notReady: Span[];
}

export interface Load {
  ms: number;
  /** Of the machine, for each of its cores. */
  load: number;
}

export interface Story {
  /** By `namespace/name`. */
  rollouts: ReadonlyMap<string, RolloutSpans>;
  faults: readonly Fault[];
  /** When Gates were bypassed. */
  bypasses: readonly number[];
  loads: readonly Load[];
  /** The most of what NUMBERS asks while it fired. */
  measured?: number | undefined;
}

const ROLLOUT = /^\/registry\/kuberik\.com\/rollouts\/([^/]+\/[^/]+)$/;
const MINUTE_MS = 60_000;
/** Scrapes, evaluations, and states that are over between two scrapes. */
const LATE_MS = 2 * MINUTE_MS;
/** Of processes that want each core: everybody waits for the others then. */
const OVERLOAD = 2;
/** Of deployments that have ended; the alert says half, and counts a little later. */
const OFTEN = 0.4;

/** For alerts about the server itself: the number that they are about. */
export const NUMBERS: Readonly<Record<string, string>> = {
  RolloutHooksDropped: 'sum(increase(rollout_hooks_dropped_total[1h]))',
  RolloutHooksRefusing:
    'max(sum by (route, outcome) (rate(rollout_hooks_request_duration_seconds_count{outcome!="answered"}[5m])))',
  RolloutHooksAdmissionSlow:
    'histogram_quantile(0.99, sum by (le) (rate(rollout_hooks_request_duration_seconds_bucket{route=~"/admission/.*"}[5m])))',
  RolloutHooksEventLoopSlow: 'max(nodejs_eventloop_lag_p99_seconds)',
};

/** Notes when the Rollouts were in which state, from stored versions in their order. */
export function spanRecorder() {
  const rollouts = new Map<string, RolloutSpans>();
  return {
    rollouts,
    take({ key, object, seenMs }: SeenVersion): void {
      const name = ROLLOUT.exec(key)?.[1];
      if (name === undefined) return;
      const spans = rollouts.get(name) ?? { heads: [], notReady: [] };
      rollouts.set(name, spans);
      const head = object?.status?.history?.[0];
      const ready = object?.status?.conditions?.find(({ type }: AnyObject) => type === 'Ready');
      const hasFailed = ready?.status === 'False' && ready.reason === 'RolloutFailed';
      turn(spans.heads, head && { state: head.bakeStatus ?? '', tag: head.version.tag }, seenMs);
      turn(spans.notReady, hasFailed ? {} : undefined, seenMs);
    },
  };
}

/** Ends the last span where it is of something else, and begins the next. */
function turn<S extends Span>(spans: S[], now: Omit<S, 'from' | 'to'> | undefined, ms: number): void {
  const last = spans.at(-1);
  const open = last && last.to === undefined ? last : undefined;
  if (open && now && Object.entries(now).every(([key, value]) => open[key as keyof S] === value)) return;
  if (open) open.to = ms;
  if (now) spans.push({ ...now, from: ms } as S);
}

type Cause = (firing: Firing, story: Story) => string | undefined;

/** What makes each alert true. One that is not here has no cause in chaos. */
const CAUSES: Readonly<Record<string, Cause>> = {
  RolloutBakeFailed: (firing, story) => {
    const span = spanOf(firing, headsOf(firing, story, 'Failed'), MINUTE_MS);
    return span && `${span.tag} was Failed since ${clock(span.from)}`;
  },
  RolloutDeploymentStuck: (firing, story) => {
    const span = spanOf(firing, headsOf(firing, story, 'Deploying'), 30 * MINUTE_MS);
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
    return failed > OFTEN * ended.length ? `${failed} of ${ended.length} deployments had failed` : undefined;
  },
  RolloutHooksGateBypassed: (firing, { bypasses }) => {
    const ms = bypasses.findLast((at) => isBefore(at, firing, 15 * MINUTE_MS));
    return ms === undefined ? undefined : `a Gate was bypassed at ${clock(ms)}`;
  },
  // What the first asks for looks back an hour, the others five minutes, and has to be so for ten.
  RolloutHooksDropped: (firing, story) => ofServer(firing, story, 60 * MINUTE_MS),
  RolloutHooksRefusing: (firing, story) => ofServer(firing, story, 15 * MINUTE_MS),
  RolloutHooksAdmissionSlow: (firing, story) => ofServer(firing, story, 15 * MINUTE_MS),
  RolloutHooksEventLoopSlow: (firing, story) => ofServer(firing, story, 15 * MINUTE_MS),
};

/** What may fire. */
export const EXPECTED: readonly string[] = Object.keys(CAUSES);

/** What of the run made it true; undefined: nothing that is known. */
export const explain = (firing: Firing, story: Story): string | undefined => CAUSES[firing.alert]?.(firing, story);

/** Failures that lasted for long enough without their alert. */
export function missed({ rollouts }: Pick<Story, 'rollouts'>, firings: readonly Firing[], endMs: number): string[] {
  const missing = (name: string, alert: string, spans: readonly Span[], leastMs: number) =>
    spans
      .filter(({ from, to = endMs }) => to - from > leastMs + LATE_MS)
      .filter(({ from, to = endMs }) => {
        const own = firings.filter((one) => one.alert === alert && nameOf(one) === name);
        return !own.some(({ fromMs, toMs }) => fromMs <= to + LATE_MS && toMs >= from);
      })
      .map(({ from }) => `${alert} of ${name} did not fire, though it was so since ${clock(from)}`);
  return [...rollouts].flatMap(([name, { heads, notReady }]) => [
    ...missing(name, 'RolloutBakeFailed', ofState(heads, 'Failed'), MINUTE_MS),
    ...missing(name, 'RolloutNotReady', notReady, 15 * MINUTE_MS),
  ]);
}

/** Of the values of ALERTS{alertstate="firing"}: one for each time without a gap. */
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
const headsOf = (firing: Firing, { rollouts }: Story, state: string) =>
  ofState(rollouts.get(nameOf(firing))?.heads ?? [], state);
const isBefore = (ms: number, { fromMs }: Firing, withinMs: number) => ms <= fromMs && ms > fromMs - withinMs - LATE_MS;

/** The one that had lasted for so long when the alert fired, and lasted until it ended. */
function spanOf<S extends Span>({ fromMs, toMs }: Firing, spans: readonly S[], forMs: number): S | undefined {
  return spans.find(
    ({ from, to = Number.POSITIVE_INFINITY }) => from + forMs <= fromMs + LATE_MS && toMs <= to + LATE_MS,
  );
}

/** The number says that it was so; why, a fault before it, or others who had the machine. */
function ofServer(firing: Firing, { faults, loads, measured }: Story, withinMs: number): string | undefined {
  if (!measured) return undefined;
  const fault = faults.findLast(({ ms }) => isBefore(ms, firing, withinMs));
  if (fault) return `measured: ${measured.toFixed(2)}, after ${fault.name} was ${fault.what} at ${clock(fault.ms)}`;
  const { fromMs } = firing;
  const most = Math.max(0, ...loads.filter(({ ms }) => ms > fromMs - withinMs && ms <= fromMs).map(({ load }) => load));
  return most > OVERLOAD
    ? `measured: ${measured.toFixed(2)}, at a load of ${most.toFixed(1)} for each core`
    : undefined;
}
