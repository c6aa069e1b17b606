/** The explanation of an object of any kind: the causes, what happens automatically, and what a user can do. */
import type { Action } from '../../actions/action.ts';
import { type Application, type Explained, type ObjectRef, objectRef } from '../application.ts';
import { STEP_KINDS } from '../stepKinds.ts';

/**
 * The state of an object. `held`: a Gate, a RolloutGate, a budget or a user has to release it. `failed`: Flux or its
 * own controller reports a failure. `underWay`: in progress.
 */
export type ExplainedState = 'free' | 'held' | 'underWay' | 'failed';

/** Why an object waits or is held, what happens next, and what releases it. */
export interface Explanation extends Explained {
  object: ObjectRef;
  /** For a Gate or a budget: `held` if it holds something. */
  state: ExplainedState;
  actions: Action[];
}

export function explanationOf(app: Application, actions: Action[]): Explanation {
  const { headline, causes, next, unread } = app;
  return {
    object: objectRef('Rollout', app),
    headline,
    state: explainedState(app),
    causes,
    ...(next && { next }),
    actions,
    unread,
  };
}

/** Codes of causes that count even if no version waits. */
const LASTING_CODES: readonly string[] = ['ObjectNotReady', 'RolloutNotFound', 'StatusOutOfDate'];

function explainedState({ state, steps, causes, runs }: Application): ExplainedState {
  const ofDeployment = steps.filter(({ kind }) => STEP_KINDS[kind].ofDeployment);
  switch (state) {
    case 'done':
      return causes.some(({ code }) => LASTING_CODES.includes(code)) ? 'held' : 'free';
    case 'failed':
    case 'problem':
      return 'failed';
    case 'deploying':
    case 'baking':
      if (ofDeployment.some((step) => step.state === 'failed')) return 'failed';
      if (runs?.waitingSince !== undefined || ofDeployment.some((step) => step.state === 'blocks')) return 'held';
      return 'underWay';
    default:
      return 'held';
  }
}
