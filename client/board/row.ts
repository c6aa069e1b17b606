/** One application on the board: its versions with their progress, its blockers, and the last deployments. */
import type { Rollout } from '../../api/types.ts';
import { withoutEmpty } from '../../core/kube/json.ts';
import { refKey } from '../../core/kube/names.ts';
import { upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import {
  type Application,
  type Cause,
  type Deployment,
  isFailedObject,
  type Outcome,
  outcomeOf,
  type Step,
} from '../explain/application.ts';
import { STEP_KINDS } from '../explain/stepKinds.ts';

/** The key of a row or another view, unique among all shown clusters: `staging shop/web`; with one cluster the id. */
export function rowKey({ cluster, id }: { cluster?: string | undefined; id: string }): string {
  return cluster === undefined ? id : `${cluster} ${id}`;
}

/** The points of the track, in the order in which a version reaches them. */
export const TRACK = ['waits', 'gates', 'deploying', 'baking', 'done'] as const;
type TrackPoint = (typeof TRACK)[number];

/** The progress of the version that waits or rolls out. */
export interface Track {
  version: string;
  at: TrackPoint;
  /** Whether the version is blocked until a user acts, or has failed. */
  halted: boolean;
  /** Set if the version has failed. */
  failed?: true;
  /** Start and end of the stay at this point, if known: the ring shows how much of it has passed. */
  from?: string;
  until?: string;
}

/** The tone of a track and of its text. */
export function trackTone({ failed, halted }: Track): 'bad' | 'held' | 'busy' {
  return failed ? 'bad' : halted ? 'held' : 'busy';
}

/** A step before the deployment of a version. `detail`: absent if the version has passed the step. */
export type RowGate = Pick<Step, 'kind' | 'title' | 'state' | 'detail'>;

/** An application on the board, in one row. */
export interface Row
  extends Pick<Application, 'namespace' | 'name' | 'title' | 'labels' | 'state' | 'headline' | 'pinned'> {
  /** The Rollout's cluster, if several are shown. */
  cluster?: string;
  /** `namespace/name`. */
  id: string;
  runs?: { version: string; outcome: Outcome; at: string; endedAt?: string };
  track?: Track;
  /** The version that waits, even behind one that is rolling out. */
  waits?: string;
  /** The cause, and the titles of further blockers. */
  why?: string;
  /** Since when the version waits. */
  since?: string;
  /** When the wait ends automatically. */
  until?: string;
  /** The steps before the next deployment, without upstream Rollouts, which are in `after`. */
  gates: RowGate[];
  /** The last deployments, oldest first. */
  strip: { id: number; version: string; outcome: Outcome; at: string }[];
  /** Ids of the upstream Rollouts. */
  after: string[];
  /** The deployed image, `registry.example/shop/app`, and the image to which releases are copied. */
  image?: string;
  copiesTo?: string;
}

const MAX_STRIP_ENTRIES = 12;
const MAX_WHY_CHARACTERS = 240;
const MAX_GATES_IN_ROW = 8;
const MAX_DETAIL_CHARACTERS = 120;

export function rowOf(rollout: Rollout, application: Application): Row {
  const { namespace, name, labels, state, headline, runs, history, causes, next, steps, title, pinned, waiting } =
    application;
  const track = trackOf(application);
  const why = causes[0] && whyText(causes[0], steps).slice(0, MAX_WHY_CHARACTERS);
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
      .slice(0, MAX_STRIP_ENTRIES)
      .map((each) => ({ id: each.id ?? 0, version: each.version.tag, outcome: outcomeOf(each), at: each.timestamp }))
      .reverse(),
    after: upstreamRefs(rollout).map(refKey),
    ...withoutEmpty({
      title,
      runs: runs && runningOf(runs),
      track,
      waits: waiting?.version,
      pinned,
      why,
      since,
      until,
      image: rollout.status?.image,
      copiesTo: rollout.spec?.targetRepository?.url.replace(/^oci:\/\//, ''),
    }),
  };
}

function rowGates(steps: readonly Step[]): RowGate[] {
  return steps
    .filter(({ kind }) => kind !== 'upstream' && !STEP_KINDS[kind].ofDeployment)
    .slice(0, MAX_GATES_IN_ROW)
    .map(({ kind, title, state, detail }) => ({
      kind,
      title,
      state,
      ...(detail && state !== 'passed' && { detail: detail.slice(0, MAX_DETAIL_CHARACTERS) }),
    }));
}

function runningOf(runs: Deployment): NonNullable<Row['runs']> {
  const { version, timestamp: at, bakeEndTime: endedAt } = runs;
  return { version: version.tag, outcome: outcomeOf(runs), at, ...withoutEmpty({ endedAt }) };
}

/** The cause and further blockers, without the version: `Gate shop/freeze: closed by alice: INC-42; RolloutGate qa`. */
function whyText({ text, step: id }: Cause, steps: readonly Step[]): string {
  const blocking = blockingSteps(steps);
  const first = blocking.find((step) => step.id === id);
  if (!first) return text;
  const cause = first.detail ? `${first.title}: ${first.detail}` : first.title;
  const others = blocking.filter((step) => step !== first);
  return [cause, ...others.map(({ title }) => title)].join('; ');
}

function blockingSteps(steps: readonly Step[]): Step[] {
  return steps.filter(({ state, kind }) => state === 'blocks' && STEP_KINDS[kind].isGateLike);
}

/** The track of an application: of a deployment that rolls out, or else of the version that waits. */
export function trackOf({ runs, waiting, steps, state }: Application): Track | undefined {
  // In state `waits` the deployment does not bake, and the waiting version will replace it.
  const outcome = runs && outcomeOf(runs);
  if (runs && state !== 'waits' && (outcome === 'Deploying' || outcome === 'InProgress')) {
    const bake = steps.find(({ kind }) => kind === 'bake');
    const isBaking = outcome === 'InProgress';
    const failed = steps.some(isFailedObject) || undefined;
    const from = isBaking ? runs.bakeStartTime : (runs.lastRetryTimestamp ?? runs.timestamp);
    return {
      version: runs.version.tag,
      at: isBaking ? 'baking' : 'deploying',
      halted: runs.waitingSince !== undefined || failed === true,
      ...withoutEmpty({ failed, from, until: bake?.until }),
    };
  }
  if (waiting) {
    const isAtGates = steps.some(({ state: is, kind }) => STEP_KINDS[kind].isGateLike && is !== 'passed');
    return {
      version: waiting.version,
      at: isAtGates ? 'gates' : 'waits',
      halted: blockingSteps(steps).length > 0,
    };
  }
  if (runs && outcome === 'Failed' && state === 'failed') {
    return { version: runs.version.tag, at: runs.bakeStartTime ? 'baking' : 'deploying', halted: true, failed: true };
  }
  return undefined;
}
