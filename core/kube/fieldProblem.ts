/** A problem with one field, worded as the API server words it. */
export interface FieldProblem {
  /** `spec.rules[0].dateRange.start` */
  field: string;
  value: unknown;
  /** A clause: `expected a duration such as 90s`. */
  reason: string;
}

export function problemText({ field, value, reason }: FieldProblem): string {
  return `${field}: Invalid value: ${JSON.stringify(value)}: ${reason}`;
}

/** The problems that a write introduces. Stored ones may stay: otherwise not even finalizers could be removed. */
export function newProblems(now: readonly string[], before: readonly string[] = []): string[] {
  const known = new Set(before);
  return now.filter((problem) => !known.has(problem));
}
