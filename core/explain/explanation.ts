/** Why an object is as it is: the cause first, what happens by itself, what a person can do. The same shape for every kind. */
import type { Application, Cause, Next, ObjectRef, Remedy } from './application.ts';
import { objectRef } from './objectRef.ts';

export interface Explanation {
  object: ObjectRef;
  /** One line: `closed by alice: freeze`. */
  headline: string;
  /** Something holds it, or it holds something. */
  isHeld: boolean;
  causes: Cause[];
  next?: Next;
  remedies: Remedy[];
  /** What could not be read, a sentence each. */
  unread: string[];
}

export function explanationOf(app: Application): Explanation {
  const { headline, causes, next, remedies, unread, state } = app;
  return {
    object: objectRef('Rollout', app),
    headline,
    isHeld: state !== 'done',
    causes,
    ...(next && { next }),
    remedies,
    unread,
  };
}
