/** Admission of RolloutBudgets: who lets a version go on in spite of its failures. */
import { CONTINUE_REQUEST } from '../api/annotations.ts';
import type { Budget } from '../api/types.ts';
import { continueProblem, recordContinue } from '../core/budget/continueRequest.ts';
import { problemText } from '../core/kube/fieldProblem.ts';
import { type AdmissionHandler, allowed, denied } from './response.ts';

const DROPPED = `${CONTINUE_REQUEST} is the webhook's record of who asked: what you write in it is dropped`;

export const mutateRolloutBudget: AdmissionHandler = async (request, { now }) => {
  const sent = request.object as Budget | null | undefined;
  if (!sent || request.subResource) return allowed();
  const before = (request.oldObject ?? undefined) as Budget | undefined;
  const problem = continueProblem(sent, before);
  if (problem) return denied('invalid', `${sent.kind} '${sent.metadata.name}' is not valid: ${problemText(problem)}`);
  const object = recordContinue(sent, before, { uid: request.uid, user: request.userInfo.username }, now);
  const [text, stored] = [sent, before].map((each) => each?.metadata.annotations?.[CONTINUE_REQUEST]);
  const warnings = text !== undefined && text !== stored ? [DROPPED] : [];
  return object === sent ? allowed(warnings) : { allowed: true, object, warnings };
};
