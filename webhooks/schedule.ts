/** Admission of RolloutSchedules and ClusterRolloutSchedules: their times must be computable. */
import type { AdmissionRequest } from '../api/admission.ts';
import { scheduleWarnings } from '../core/calendar/calendarRules.ts';
import { newProblems, problemText } from '../core/kube/fieldProblem.ts';
import type { Schedule } from '../core/schedule/scheduleGates.ts';
import { scheduleProblems } from '../core/schedule/schedulePlan.ts';
import { type AdmissionHandler, allowed, denied } from './response.ts';

export const validateSchedule: AdmissionHandler = async ({ object, oldObject, subResource }) => {
  if (!object || subResource) return allowed();
  const problems = newProblems(problemsOf(object), oldObject ? problemsOf(oldObject) : []);
  if (problems.length > 0) return denied('invalid', `${problems.join('; ')}.`);
  return allowed(scheduleWarnings((object as unknown as Schedule).spec?.rules ?? []));
};

function problemsOf(schedule: NonNullable<AdmissionRequest['object']>): string[] {
  return scheduleProblems(schedule as unknown as Schedule).map(problemText);
}
