/**
 * One application on the Board: the running version, the one that rolls out and its progress, the blockers,
 * and the last deployments.
 */
import type { Rollout } from '../../api/types.ts';
import { refKey } from '../../core/kube/names.ts';
import { upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import type { Application, ApplicationState, Cause, DeploymentView, Outcome, Step } from '../explain/application.ts';
import { isFailedObject } from '../explain/application.ts';
import { kindsThat } from '../explain/stepKinds.ts';

/** Key of a row, unique among all clusters that are shown: `staging shop/web`; with one cluster the id. */
export function keyOf({ cluster, id }: { cluster?: string | undefined; id: string }): string {
  return cluster === undefined ? id : `${cluster} ${id}`;
}

/** The stages of a version, in order. */
export const TRACK = ['waits', 'gates', 'deploying', 'baking', 'done'] as const;
type TrackPoint = (typeof TRACK)[number];

export interface Track {
  version: string;
  at: TrackPoint;
  /** Whether the version is blocked until a user acts, or has failed. */
  halted: boolean;
  /** Set if it is halted because it has failed, and not by a gate. */
  failed?: true;
  /** Start and end of the present stage, if both are known: the ring fills. */
  from?: string;
  until?: string;
}

/** A gate before the deployment of a version. `detail`: of one that it has not passed. */
export type RowGate = Pick<Step, 'kind' | 'title' | 'state' | 'detail'>;

export interface Row {
  /** The Rollout's cluster, if several are shown. */
  cluster?: string;
  /** `namespace/name`. */
  id: string;
  namespace: string;
  name: string;
  title?: string;
  labels: Record<string, string>;
  state: ApplicationState;
  headline: string;
  runs?: Pick<DeploymentView, 'version' | 'outcome' | 'at'> & { endedAt?: string };
  /** The progress of the version that is waiting or rolling out. */
  track?: Track;
  /** The version that waits, even behind one that is rolling out. */
  waits?: string;
  pinned?: string;
  /** The cause; further blockers, by title. */
  why?: string;
  /** Since when the version waits. */
  since?: string;
  /** When the wait ends automatically. */
  until?: string;
  /** The gates before the next deployment, without upstream Rollouts: `after` has them. */
  gates: RowGate[];
  /** The last deployments, oldest first. */
  strip: { id: number; version: string; outcome: Outcome; at: string }[];
  /** Ids of the upstream Rollouts. */
  after: string[];
  /** The image that it deploys, `registry.example/shop/app`, and the one that it copies releases to. */
  image?: string;
  copiesTo?: string;
}

const STRIP = 12;
const WHY = 240;
const GATES = 8;
const DETAIL = 120;
const OF_DEPLOYMENT = kindsThat('ofDeployment');
const GATE_LIKE = kindsThat('isGateLike');

export function rowOf(rollout: Rollout, application: Application): Row {
  const { namespace, name, labels, state, headline, runs, history, causes, next, steps, title, pinned, waiting } =
    application;
  const track = trackOf(application);
  const why = causes[0] && whyText(causes[0], steps).slice(0, WHY);
  const since = state === 'waits' ? (waiting?.requested?.at ?? waiting?.firstSeen) : undefined;
  const until = track?.until ?? next?.at;
  return {
    id: refKey({ namespace, name }),
    namespace,
    name,
    labels,
    state,
    headline,
    gates: rowGates(steps),
    strip: history
      .slice(0, STRIP)
      .map(({ id, version, outcome, at }) => ({ id, version, outcome, at }))
      .reverse(),
    after: upstreamRefs(rollout).map(refKey),
    ...(title && { title }),
    ...(runs && { runs: runningOf(runs) }),
    ...(track && { track }),
    ...(waiting && { waits: waiting.version }),
    ...(pinned && { pinned }),
    ...(why && { why }),
    ...(since && { since }),
    ...(until && { until }),
    ...imagesOf(rollout),
  };
}

function rowGates(steps: readonly Step[]): RowGate[] {
  return steps
    .filter(({ kind }) => kind !== 'stage' && !OF_DEPLOYMENT.includes(kind))
    .slice(0, GATES)
    .map(({ kind, title, state, detail }) => ({
      kind,
      title,
      state,
      ...(detail && state !== 'passed' && { detail: detail.slice(0, DETAIL) }),
    }));
}

function imagesOf({ spec, status }: Rollout): Pick<Row, 'image' | 'copiesTo'> {
  const target = spec?.targetRepository?.url.replace(/^oci:\/\//, '');
  return { ...(status?.image && { image: status.image }), ...(target && { copiesTo: target }) };
}

function runningOf({ version, outcome, at, endedAt }: DeploymentView): NonNullable<Row['runs']> {
  return { version, outcome, at, ...(endedAt && { endedAt }) };
}

/** The first blocker, without the version, which the row has anyway: `Gate shop/freeze: closed by alice: INC-42; RolloutGate qa`. */
function whyText({ text, step: id }: Cause, steps: readonly Step[]): string {
  const inTheWay = blocking(steps);
  const first = inTheWay.find((step) => step.id === id);
  if (!first) return text;
  const cause = first.detail ? `${first.title}: ${first.detail}` : first.title;
  const others = inTheWay.filter((step) => step !== first);
  return [cause, ...others.map(({ title }) => title)].join('; ');
}

function blocking(steps: readonly Step[]): Step[] {
  return steps.filter(({ state, kind }) => state === 'blocks' && GATE_LIKE.includes(kind));
}

/** The progress on the track. A running deployment comes before the version that waits behind it. */
export function trackOf({ runs, waiting, steps, state }: Application): Track | undefined {
  // A deployment without a bake is replaced by the waiting version.
  if (runs && state !== 'waits' && (runs.outcome === 'Deploying' || runs.outcome === 'InProgress')) {
    const bake = steps.find(({ kind }) => kind === 'bake');
    const isBaking = runs.outcome === 'InProgress';
    const failed = steps.some(isFailedObject);
    const from = isBaking ? runs.bakeStartedAt : (runs.retriedAt ?? runs.at);
    return {
      version: runs.version,
      at: isBaking ? 'baking' : 'deploying',
      halted: runs.heldSince !== undefined || failed,
      ...(failed && { failed }),
      ...(from && { from }),
      ...(bake?.until && { until: bake.until }),
    };
  }
  if (waiting) {
    const inTheWay = steps.filter(({ state: is, kind }) => GATE_LIKE.includes(kind) && is !== 'passed');
    return {
      version: waiting.version,
      at: inTheWay.length > 0 ? 'gates' : 'waits',
      halted: blocking(steps).length > 0,
    };
  }
  if (runs?.outcome === 'Failed' && state === 'failed') {
    return { version: runs.version, at: runs.bakeStartedAt ? 'baking' : 'deploying', halted: true, failed: true };
  }
  return undefined;
}
