/** A failure in one sentence for its reader, and the exit codes of the commands that end with one. */

/** Exit codes of every command; `status` has further ones for its result. */
export const EXIT = {
  ok: 0,
  /** An error, with a message for the user. */
  error: 1,
  /** The command line is wrong. */
  usage: 2,
  /** `status`: the deployment has failed. */
  failed: 3,
  /** `status` and `--until`: not reached in time. */
  timeout: 4,
  /** `status` without `--until`: a version is waiting or rolling out. */
  waiting: 5,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** Ends the command with one sentence on stderr and no stack: what, with what value, where, what to do. */
export class Problem extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.error) {
    super(message);
    this.name = 'Problem';
    this.exitCode = exitCode;
  }
}
