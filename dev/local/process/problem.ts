import { logToStderr } from './log.ts';

/**
 * An error that the user can fix. The message says in one sentence what went wrong and what to do; `details` are lines
 * to print below it (the end of a log, a compiler's output).
 */
export class Problem extends Error {
  readonly details: string[];

  constructor(message: string, details: string[] = []) {
    super(message);
    this.name = 'Problem';
    this.details = details;
  }
}

const DISK_FULL = /no space left on device|ENOSPC|disk quota exceeded/i;

/** The Problem for a full disk, if `text` (a log, a compiler's output, an error) mentions one. */
export function diskFullProblem(text: string, where: string): Problem | undefined {
  if (!DISK_FULL.test(text)) return undefined;
  return new Problem(
    `The disk that holds ${where} is full: free some space or choose another location, then start again.`,
  );
}

export function reportProblem({ message, details }: Problem, before = ''): void {
  logToStderr(`${before}${message}`);
  for (const line of details) logToStderr(`  ${line}`);
}

/** Any thrown value as a Problem. An unknown error keeps its message, on one line. */
export function asProblem(error: unknown, where: string): Problem {
  if (error instanceof Problem) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return (
    diskFullProblem(`${code} ${message}`, where) ?? new Problem(String(message ?? error).replace(/\s*\n\s*/g, ' '))
  );
}
