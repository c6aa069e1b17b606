/** How a copy ends: what its exit code says to the Job that ran it, and whether another attempt could end otherwise. */

/** Exit codes. 2 is a wrong command line; those from 128 are signals. */
export const COPY_OUTCOMES = {
  /** The target has the release, and all of it was seen there. */
  Copied: 0,
  /** A mistake of ours. */
  Unexpected: 1,
  Usage: 2,
  /** The tag exists, with another digest. */
  Conflict: 3,
  /** 401 or 403, or no token. */
  Denied: 4,
  /** The source has not, or no longer, what was asked for; or the target has no such repository. */
  NotFound: 5,
  /** What the source holds, or what a registry answers, cannot be used: digests, manifests, limits. */
  Invalid: 6,
  /** The target takes no more. */
  Full: 7,
  /** A registry did not answer, too late or with an error, also when asked again, or has lost what it was sent. */
  Unavailable: 8,
  Interrupted: 143,
} as const;

export type CopyOutcome = keyof typeof COPY_OUTCOMES;

/** A copy that ends otherwise than Copied. The message is for people: which side, what, with what value, what to do. */
export class CopyFailure extends Error {
  readonly outcome: CopyOutcome;

  constructor(outcome: Exclude<CopyOutcome, 'Copied'>, message: string) {
    super(message);
    this.name = 'CopyFailure';
    this.outcome = outcome;
  }
}
