import { logToStderr } from './log.ts';

/**
 * An error that the user can fix. One sentence is the message: the cause, and what to do. `details` are lines to print
 * below it (the end of a log, a compiler's output).
 */
export class Problem extends Error {
  readonly details: string[];

  constructor(message: string, details: string[] = []) {
    super(message);
    this.name = 'Problem';
    this.details = details;
  }
}

export function reportProblem({ message, details }: Problem, before = ''): void {
  logToStderr(`${before}${message}`);
  for (const line of details) logToStderr(`  ${line}`);
}

/** Any thrown value as a Problem. An unknown error keeps its message, on one line. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(String((error as Error).message ?? error).replace(/\s*\n\s*/g, ' '));
}
