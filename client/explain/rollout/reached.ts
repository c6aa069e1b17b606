/** The progress of an application to a goal, with one release or with the next one. */
import { type Application, type Deployment, outcomeOf } from '../application.ts';

/**
 * The goals, each reached by later ones too. `waiting`: the version waits. `deployed`: it is applied everywhere.
 * `baked`: its bake has succeeded.
 */
export const GOALS = ['waiting', 'deployed', 'baked'] as const;
export type Goal = (typeof GOALS)[number];

/** Progress to a goal. `failed`: the goal is not reached without a further action. */
export type GoalProgress = 'reached' | 'failed' | 'under way';

/** The progress of an application. `release`: a tag; undefined: the newest deployment, once no newer version waits. */
export function progressTo(goal: Goal, app: Application, release: string | undefined): GoalProgress {
  const { waiting, runs, history } = app;
  if (goal === 'waiting' && waiting && (release === undefined || waiting.version === release)) return 'reached';
  if (release === undefined) return waiting || !runs ? 'under way' : progressOfNewest(goal, runs);
  const entry = history.find(({ version }) => version.tag === release);
  return entry ? progressOf(goal, entry) : 'under way';
}

/** The state of the history when a request was made. */
export interface SinceRequest {
  /** Id of the newest deployment; 0 for none. */
  id: number;
  /** When that deployment was last retried. */
  retriedAt?: string | undefined;
}

/** The progress since a request, by a deployment that is newer or was retried since. `version`: absent: any. */
export function progressSince(
  goal: Goal,
  { history }: Application,
  since: SinceRequest,
  version?: string,
): GoalProgress {
  const entry = history.find(
    (each) =>
      (version === undefined || each.version.tag === version) &&
      (idOf(each) > since.id || (idOf(each) === since.id && each.lastRetryTimestamp !== since.retriedAt)),
  );
  if (!entry) return 'under way';
  return version === undefined ? progressOfNewest(goal, entry) : progressOf(goal, entry);
}

/** The progress of the newest version. If it was rolled back, the newest deployment is of another one. */
function progressOfNewest(goal: Goal, newest: Deployment): GoalProgress {
  return goal !== 'waiting' && newest.rolledBackFrom !== undefined ? 'failed' : progressOf(goal, newest);
}

const idOf = ({ id = 0 }: Deployment) => id;

function progressOf(goal: Goal, deployment: Deployment): GoalProgress {
  const outcome = outcomeOf(deployment);
  if (goal === 'waiting' || outcome === 'Succeeded') return 'reached';
  if (outcome === 'Failed' || outcome === 'Cancelled') return 'failed';
  if (goal === 'deployed' && (deployment.appliedTime !== undefined || outcome === 'InProgress')) return 'reached';
  // The Go controller recorded no outcome: the deployment does not bake.
  return outcome === 'Unknown' ? 'reached' : 'under way';
}
