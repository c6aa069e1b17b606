/** An error as the answer to a request of the page. */
export class Refused extends Error {
  /** The status of the answer; 0 without an answer. */
  readonly status: number;
  /** The address of the sign-in; only in a cluster. */
  readonly signIn: string | undefined;

  constructor(status: number, message: string, signIn?: string) {
    super(message);
    this.status = status;
    this.signIn = signIn;
  }

  /** Whether a repeated request gets the same answer: not from a server that restarts, or is too busy. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}
