/** Texts, icons and tones for the states of applications, deployments, steps and other objects. */
import type { ApplicationState, Outcome, StepState } from '../../client/explain/application.ts';
import type { ExplainedState } from '../../client/explain/kinds/explanation.ts';
import type { IconName } from './Icon.tsx';

export type Tone = 'good' | 'busy' | 'held' | 'bad' | 'calm';

export interface Look {
  text: string;
  icon: IconName;
  tone: Tone;
}

export const STATES: Record<ApplicationState, Look> = {
  waits: { text: 'Waits', icon: 'waits', tone: 'held' },
  deploying: { text: 'Deploying', icon: 'rolling', tone: 'busy' },
  baking: { text: 'Baking', icon: 'bake', tone: 'busy' },
  failed: { text: 'Failed', icon: 'failed', tone: 'bad' },
  problem: { text: 'Problem', icon: 'problem', tone: 'bad' },
  done: { text: 'Done', icon: 'done', tone: 'good' },
  empty: { text: 'Nothing yet', icon: 'empty', tone: 'calm' },
};

export const OUTCOMES: Record<Outcome, Look> = {
  Deploying: { text: 'Deploying', icon: 'rolling', tone: 'busy' },
  InProgress: { text: 'Baking', icon: 'bake', tone: 'busy' },
  Succeeded: { text: 'Succeeded', icon: 'done', tone: 'good' },
  Failed: { text: 'Failed', icon: 'failed', tone: 'bad' },
  Cancelled: { text: 'Cancelled', icon: 'minus', tone: 'calm' },
  Unknown: { text: 'Deployed', icon: 'unknown', tone: 'calm' },
};

/** The states of other objects. */
export const EXPLAINED: Record<ExplainedState, Look> = {
  free: { text: 'OK', icon: 'done', tone: 'good' },
  held: { text: 'Held', icon: 'gate', tone: 'held' },
  underWay: { text: 'In progress', icon: 'rolling', tone: 'busy' },
  failed: { text: 'Failed', icon: 'failed', tone: 'bad' },
};

const BLOCKING_KINDS: readonly string[] = ['RolloutGate', 'RolloutBudget', 'ClusterRolloutBudget'];

/** The state of an object: a Flux object is held, and a RolloutGate or a budget blocks versions. */
export function explainedLook(kind: string, state: ExplainedState): Look {
  const isBlocking = state === 'held' && BLOCKING_KINDS.includes(kind);
  return isBlocking ? { ...EXPLAINED.held, text: 'Blocks' } : EXPLAINED[state];
}

export const STEPS: Record<StepState, Pick<Look, 'text' | 'tone'>> = {
  passed: { text: 'passed', tone: 'good' },
  blocks: { text: 'blocks', tone: 'held' },
  waits: { text: 'in progress', tone: 'busy' },
  failed: { text: 'failed', tone: 'bad' },
  unknown: { text: 'could not be read', tone: 'calm' },
};
