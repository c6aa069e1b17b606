/** Admission of RolloutBudgets: who lets a version go on in spite of its failures. */
import type { Budget } from '../api/types.ts';
import { recordContinue } from '../core/budget/continue.ts';
import { type AdmissionHandler, allowed } from './response.ts';

export const mutateRolloutBudget: AdmissionHandler = async (request, { now }) => {
  const sent = request.object as Budget | null | undefined;
  if (!sent || request.subResource) return allowed();
  const before = (request.oldObject ?? undefined) as Budget | undefined;
  const object = recordContinue(sent, before, { uid: request.uid, user: request.userInfo.username }, now);
  return object === sent ? allowed() : { allowed: true, object };
};
