/** The kind of a failure, for the caller. */
export type RegistryFailure = 'Denied' | 'Full' | 'Invalid' | 'NotFound' | 'Unavailable';

/**
 * Why a registry gave no answer. The message contains no header, body or query of a URL, since these may hold secrets.
 */
export class RegistryError extends Error {
  readonly failure: RegistryFailure;
  readonly transient: boolean;
  /** The registry's Retry-After. */
  readonly retryAfterMs: number;

  constructor(
    message: string,
    failure: RegistryFailure = 'Invalid',
    { transient = failure === 'Unavailable', retryAfterMs = 0 } = {},
  ) {
    super(message);
    this.name = 'RegistryError';
    this.failure = failure;
    this.transient = transient;
    this.retryAfterMs = retryAfterMs;
  }
}
