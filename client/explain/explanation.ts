/** The explanation of any object: the cause first, what happens automatically, what a user can do. One shape for every kind. */
import { type Application, type Cause, type Next, type ObjectRef, objectRef, type Remedy } from './application.ts';
import { kindsThat } from './stepKinds.ts';

/** `held`: a gate, a budget or a user has to release it. `failed`: Flux or its own controller reports a failure. `underWay`: in progress. */
export type ExplainedState = 'free' | 'held' | 'underWay' | 'failed';

export interface Explanation {
  object: ObjectRef;
  /** One line: `closed by alice: freeze`. */
  headline: string;
  /** `held` for a Gate or a budget that holds something. */
  state: ExplainedState;
  causes: Cause[];
  next?: Next;
  remedies: Remedy[];
  /** Kinds that could not be read, a sentence each. */
  unread: string[];
}

export function explanationOf(app: Application): Explanation {
  const { headline, causes, next, remedies, unread } = app;
  return {
    object: objectRef('Rollout', app),
    headline,
    state: explainedState(app),
    causes,
    ...(next && { next }),
    remedies,
    unread,
  };
}

/** Causes that count even if no version waits. */
const OUTLASTING: readonly string[] = ['ObjectNotReady', 'RolloutNotFound'];

/** Kinds of steps for the newest deployment; the others are for the next version. */
const OF_DEPLOYMENT = kindsThat('ofDeployment');

function explainedState({ state, steps, causes, runs }: Application): ExplainedState {
  const own = steps.filter(({ kind }) => OF_DEPLOYMENT.includes(kind));
  switch (state) {
    case 'done':
      return causes.some(({ code }) => OUTLASTING.includes(code)) ? 'held' : 'free';
    case 'failed':
    case 'problem':
      return 'failed';
    case 'deploying':
    case 'baking':
      if (own.some((step) => step.state === 'failed')) return 'failed';
      return runs?.heldSince !== undefined || own.some((step) => step.state === 'blocks') ? 'held' : 'underWay';
    default:
      return 'held';
  }
}
