/** Problems for users, and the exit codes of commands. */

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

/** A problem for the user: one sentence with cause, value, place and what to do, printed without a stack. */
export class Problem extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.error) {
    super(message);
    this.name = 'Problem';
    this.exitCode = exitCode;
  }
}
