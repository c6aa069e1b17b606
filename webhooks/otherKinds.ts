/** Admission of kinds with a single rule. */
import type { Budget, HealthCheck } from '../api/types.ts';
import { continueProblem, recordContinue } from '../core/budget/continueRequest.ts';
import { scheduleWarnings } from '../core/calendar/calendarRules.ts';
import { type Schedule, scheduleProblems } from '../core/calendar/schedulePlan.ts';
import { forbiddenProblem, KUSTOMIZATION_CLASS, kustomizationRef } from '../core/health/kustomizationCheck.ts';
import { newProblems, problemText } from '../core/kube/fieldProblem.ts';
import { subjectOf } from '../core/objectGates/gateTexts.ts';
import { type AdmissionHandler, allowed, denied, notValid, versionsOf } from './response.ts';

/** Admission of RolloutBudgets: records the user who continues a version despite its failures. */
export const mutateRolloutBudget: AdmissionHandler = async (request, { now }) => {
  const { object: budget, old } = versionsOf<Budget>(request);
  if (!budget) return allowed();
  const problem = continueProblem(budget, old);
  if (problem) return notValid(budget, [problemText(problem)]);
  return { allowed: true, object: recordContinue(budget, old, request, now) };
};

/** Admission of RolloutSchedules and ClusterRolloutSchedules: denies times that can't be computed. */
export const validateSchedule: AdmissionHandler = async (request) => {
  const { object, old } = versionsOf<Schedule>(request);
  if (!object) return allowed();
  const problems = newProblems(problemsOf(object), old ? problemsOf(old) : []);
  if (problems.length > 0) return notValid(object, problems);
  return allowed(scheduleWarnings(object.spec?.rules ?? []));
};

function problemsOf(schedule: Schedule): string[] {
  return scheduleProblems(schedule).map(problemText);
}

/**
 * Admission of HealthChecks: denies a Kustomization of another namespace if the installation forbids such references.
 */
export const validateHealthCheck: AdmissionHandler = async (request, { settings }) => {
  const { object: healthCheck, old } = versionsOf<HealthCheck>(request);
  if (!healthCheck || !settings.noCrossNamespaceRefs || healthCheck.spec?.class !== KUSTOMIZATION_CLASS)
    return allowed();
  const problem = forbiddenReference(healthCheck);
  // A stored reference may stay: otherwise nothing else on the object could change, not even its finalizers.
  if (problem === undefined || (old && forbiddenReference(old) !== undefined)) return allowed();
  return denied('not_permitted', `${subjectOf(healthCheck)}: ${problem}`);
};

/** Why a valid reference is forbidden: it names another namespace. undefined for any other reference. */
function forbiddenReference(check: HealthCheck): string | undefined {
  const ref = kustomizationRef(check);
  return 'problem' in ref ? undefined : forbiddenProblem(ref, check);
}
