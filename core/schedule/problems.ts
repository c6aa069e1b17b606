/** What in a RolloutSchedule does not compile. Admission denies it; where it got in anyway, the gates keep their last value. */
import { compileCalendar } from '../calendar/calendar.ts';
import type { FieldProblem } from '../kube/fieldProblem.ts';
import { selectorProblems } from '../kube/selector.ts';
import type { Schedule } from './gates.ts';

export function scheduleProblems({ spec }: Schedule): FieldProblem[] {
  if (!spec) return [{ field: 'spec', value: null, reason: 'expected rolloutSelector and rules' }];
  const selectors = {
    rolloutSelector: spec.rolloutSelector,
    namespaceSelector: 'namespaceSelector' in spec ? spec.namespaceSelector : undefined,
  };
  return [
    ...compileCalendar(spec, 'spec').problems,
    ...Object.entries(selectors).flatMap(([key, selector]) => selectorProblems(selector, `spec.${key}`)),
  ];
}
