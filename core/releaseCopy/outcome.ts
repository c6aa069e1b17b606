/** The outcomes of a copy. By the exit code, the copy's Job decides whether another attempt could end differently. */

/** The outcomes and their exit codes; codes from 128 are signals. */
export const COPY_OUTCOMES = {
  /** The target has the whole release. */
  Copied: 0,
  /** A bug of ours. */
  Unexpected: 1,
  /** A wrong command line. */
  Usage: 2,
  /** The tag exists, with another digest. */
  Conflict: 3,
  /** 401 or 403, or no token. */
  Denied: 4,
  /** The source does not have the release, or the target has no such repository. */
  NotFound: 5,
  /** The release, or a registry's answer, cannot be used: digests, manifests, limits. */
  Invalid: 6,
  /** The target's quota is used up. */
  Full: 7,
  /** A registry did not answer in time or with success, even after retries, or has lost what was pushed. */
  Unavailable: 8,
  Interrupted: 143,
} as const;

export type CopyOutcome = keyof typeof COPY_OUTCOMES;

/** A failed copy. The message is for users: the side, the problem with its value, and what to do. */
export class CopyFailure extends Error {
  readonly outcome: CopyOutcome;

  constructor(outcome: Exclude<CopyOutcome, 'Copied'>, message: string) {
    super(message);
    this.name = 'CopyFailure';
    this.outcome = outcome;
  }
}
