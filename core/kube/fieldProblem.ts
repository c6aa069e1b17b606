/** A problem with one field, worded as the API server words it. */
export interface FieldProblem {
  /** `spec.rules[0].dateRange.start` */
  field: string;
  value: unknown;
  /** A clause that says what was expected. */
  reason: string;
}

export function problemText({ field, value, reason }: FieldProblem): string {
  return `${field}: Invalid value: ${JSON.stringify(value)}: ${reason}`;
}

/**
 * Problems that a write introduces.
 * Stored problems may stay: otherwise nothing else on the object could change, its finalizers included.
 */
export function newProblems(now: readonly string[], before: readonly string[] = []): string[] {
  const known = new Set(before);
  return now.filter((problem) => !known.has(problem));
}
