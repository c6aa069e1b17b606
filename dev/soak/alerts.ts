/** Whether each alert that fired was true, by what was stored and done; and whether what should have fired did. */
import type { Series } from '../local/monitoring/prometheus.ts';
import type { App } from './fleet.ts';
import type { Happening } from './ledger.ts';

/** An alert that has fired. */
export interface Firing {
  alert: string;
  labels: Record<string, string>;
  fromMs: number;
  toMs: number;
}

export interface JudgedAlert extends Firing {
  /** What of the run made it true; undefined: nothing that is known. */
  because: string | undefined;
}

type Told = Pick<App, 'key' | 'spans' | 'notReady' | 'releases'>;

export interface Load {
  ms: number;
  load: number;
}

export interface Story {
  /** By `namespace/name`. */
  apps: ReadonlyMap<string, Told>;
  happenings: readonly Happening[];
  /** Of the machine, for each of its cores. */
  loads: readonly Load[];
  /** Of what NUMBERS asks, the most while it fired. */
  measured?: number | undefined;
}

const MINUTE_MS = 60_000;
/** Scrapes, evaluations, and states that are over between two scrapes. */
const LATE_MS = 2 * MINUTE_MS;
/** Of processes that want each core: everybody waits for the others then. */
const OVERLOAD = 2;

/** For alerts about the server itself: the number that they are about. */
export const NUMBERS: Readonly<Record<string, string>> = {
  RolloutHooksDropped: 'sum(increase(rollout_hooks_dropped_total[1h]))',
  RolloutHooksRefusing:
    'max(sum by (route, outcome) (rate(rollout_hooks_request_duration_seconds_count{outcome!="answered"}[5m])))',
  RolloutHooksAdmissionSlow:
    'histogram_quantile(0.99, sum by (le) (rate(rollout_hooks_request_duration_seconds_bucket{route=~"/admission/.*"}[5m])))',
  RolloutHooksEventLoopSlow: 'max(nodejs_eventloop_lag_p99_seconds)',
};

type Cause = (firing: Firing, story: Story) => string | undefined;

/** An alert that is not here has no cause in a soak: it is not true. */
const CAUSES: Readonly<Record<string, Cause>> = {
  RolloutBakeFailed: (firing, { apps }) => {
    const app = appOf(firing, apps);
    const span = spanOf(firing, ofState(app, 'Failed'), MINUTE_MS);
    const isBad = span !== undefined && app?.releases.get(span.tag)?.bad === true;
    return isBad ? `${span.tag} was bad, and Failed since ${clock(span.from)}` : undefined;
  },
  RolloutDeploymentStuck: (firing, { apps }) => {
    const span = spanOf(firing, ofState(appOf(firing, apps), 'Deploying'), 30 * MINUTE_MS);
    return span && `${span.tag} was on its way since ${clock(span.from)}`;
  },
  RolloutNotReady: (firing, { apps, happenings }) => {
    const app = appOf(firing, apps);
    const span = spanOf(firing, app?.notReady ?? [], 15 * MINUTE_MS);
    const cause = happenings.find(({ what, of }) => what === 'remove' && of === app?.key);
    return span && cause && `its ImagePolicy was deleted at ${clock(cause.ms)}`;
  },
  RolloutHooksGateBypassed: (firing, { happenings }) => {
    const cause = before(firing, happenings, 'bypass', 15 * MINUTE_MS);
    return cause && `${cause.of} was let past a freeze at ${clock(cause.ms)}`;
  },
  // What the first asks for looks back an hour, the others five minutes, and has to be so for ten.
  RolloutHooksDropped: (firing, story) => ofServer(firing, story, 60 * MINUTE_MS),
  RolloutHooksRefusing: (firing, story) => ofServer(firing, story, 15 * MINUTE_MS),
  RolloutHooksAdmissionSlow: (firing, story) => ofServer(firing, story, 15 * MINUTE_MS),
  RolloutHooksEventLoopSlow: (firing, story) => ofServer(firing, story, 15 * MINUTE_MS),
};

/** What may fire in a soak. */
export const EXPECTED: readonly string[] = Object.keys(CAUSES);

export const explain = (firing: Firing, story: Story): string | undefined => CAUSES[firing.alert]?.(firing, story);

/** Failures that lasted for long enough, and of which nobody was told. */
export function missed({ apps }: Pick<Story, 'apps'>, firings: readonly Firing[], endMs: number): string[] {
  const untold = (app: Told, alert: string, spans: readonly Span[], leastMs: number) =>
    spans
      .filter(({ from, to = endMs }) => to - from > leastMs + LATE_MS)
      .filter(
        ({ from, to = endMs }) =>
          !firings.some((one) => isOf(one, alert, app) && one.fromMs <= to + LATE_MS && one.toMs >= from),
      )
      .map(({ from }) => `${alert} of ${app.key} did not fire, though it was so since ${clock(from)}`);
  return [...apps.values()].flatMap((app) => [
    ...untold(app, 'RolloutBakeFailed', ofState(app, 'Failed'), MINUTE_MS),
    ...untold(app, 'RolloutNotReady', app.notReady, 15 * MINUTE_MS),
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

interface Span {
  from: number;
  to?: number;
}

const clock = (ms: number) => new Date(ms).toISOString().slice(11, 19);
const appOf = ({ labels }: Firing, apps: Story['apps']) => apps.get(`${labels.namespace}/${labels.name}`);
const isOf = ({ alert, labels }: Firing, name: string, { key }: Told) =>
  alert === name && `${labels.namespace}/${labels.name}` === key;
const ofState = (app: Told | undefined, wanted: string) => app?.spans.filter(({ state }) => state === wanted) ?? [];

/** The one that had lasted for so long when the alert fired, and lasted until it ended. */
function spanOf<S extends Span>({ fromMs, toMs }: Firing, spans: readonly S[], forMs: number): S | undefined {
  return spans.find(
    ({ from, to = Number.POSITIVE_INFINITY }) => from + forMs <= fromMs + LATE_MS && toMs <= to + LATE_MS,
  );
}

/** The last one not too long before it fired. */
function before({ fromMs }: Firing, happenings: readonly Happening[], wanted: Happening['what'], withinMs: number) {
  return happenings.findLast(({ what, ms }) => what === wanted && ms <= fromMs && ms > fromMs - withinMs - LATE_MS);
}

/** The number says that it was so; why, a restart before it, or others who had the machine. */
function ofServer(firing: Firing, { happenings, loads, measured }: Story, withinMs: number): string | undefined {
  if (!measured) return undefined;
  const restart = before(firing, happenings, 'restart', withinMs);
  if (restart) return `measured: ${measured.toFixed(2)}, after the restart of ${restart.of} at ${clock(restart.ms)}`;
  const { fromMs } = firing;
  const most = Math.max(0, ...loads.filter(({ ms }) => ms > fromMs - withinMs && ms <= fromMs).map(({ load }) => load));
  return most > OVERLOAD
    ? `measured: ${measured.toFixed(2)}, at a load of ${most.toFixed(1)} for each core`
    : undefined;
}
