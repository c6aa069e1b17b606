/** What in a RolloutSchedule does not compile. Admission denies it; where it got in, the gates keep their last value. */

import { compileCalendar } from '../calendar/calendar.ts';
import type { FieldProblem } from '../kube/fieldProblem.ts';
import { checkSelector, SelectorError } from '../kube/selector.ts';
import type { Schedule } from './gates.ts';

export function scheduleProblems({ spec }: Schedule): FieldProblem[] {
  if (!spec) return [{ field: 'spec', value: null, reason: 'expected rolloutSelector and rules' }];
  const selectors = {
    rolloutSelector: spec.rolloutSelector,
    namespaceSelector: 'namespaceSelector' in spec ? spec.namespaceSelector : undefined,
  };
  const problems = compileCalendar(spec, 'spec').problems as FieldProblem[];
  return [
    ...problems,
    ...Object.entries(selectors).flatMap(([key, selector]) => {
      try {
        checkSelector(selector);
        return [];
      } catch (error) {
        if (!(error instanceof SelectorError)) throw error;
        return [{ field: `spec.${key}.${error.field}`, value: error.value, reason: error.reason }];
      }
    }),
  ];
}
