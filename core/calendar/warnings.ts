/** Rules that are legal and do nothing, or more than they seem to. */
import type { CalendarRule } from './calendar.ts';

/** Sentences of at most 120 characters. */
export function scheduleWarnings(rules: readonly CalendarRule[]): string[] {
  return rules.flatMap(({ timeRange, dateRange }, i) => {
    const warnings: string[] = [];
    if (dateRange && dateRange.end < dateRange.start) {
      warnings.push(`rules[${i}].dateRange ends before it starts: the rule is never active`);
    }
    if (timeRange && timeRange.start === timeRange.end) {
      warnings.push(`rules[${i}].timeRange starts and ends at ${timeRange.start}: the window lasts the whole day`);
    }
    return warnings;
  });
}
