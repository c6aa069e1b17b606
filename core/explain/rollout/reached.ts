/** Whether an application has come as far as somebody waits for: of one release, or of whatever comes next. */
import type { Application, DeploymentView } from '../application.ts';

/** `waiting`: it is to come, or further. `deployed`: applied everywhere, or further. `baked`: its bake has succeeded. */
export const GOALS = ['waiting', 'deployed', 'baked'] as const;
export type Goal = (typeof GOALS)[number];

/** `failed`: it will not come by itself any more. */
export type Progress = 'reached' | 'failed' | 'under way';

/** `release`: a tag; without it the newest deployment counts, once nothing newer waits. */
export function progressTo(goal: Goal, app: Application, release: string | undefined): Progress {
  const { waiting, runs, history } = app;
  if (goal === 'waiting' && waiting && (release === undefined || waiting.version === release)) return 'reached';
  if (release === undefined) return waiting || !runs ? 'under way' : progressOf(goal, runs);
  const entry = history.find(({ version }) => version === release);
  return entry ? progressOf(goal, entry) : 'under way';
}

function progressOf(goal: Goal, { outcome, appliedAt }: DeploymentView): Progress {
  if (goal === 'waiting' || outcome === 'Succeeded') return 'reached';
  if (outcome === 'Failed' || outcome === 'Cancelled') return 'failed';
  if (goal === 'deployed' && (appliedAt !== undefined || outcome === 'InProgress')) return 'reached';
  // An older version of this software left none: it does not bake.
  return outcome === 'Unknown' ? 'reached' : 'under way';
}
