/** A refusal of the API server, with its message; code 0 if there was no answer. */
export class ApiError extends Error {
  readonly code: number;
  /** Machine-readable, such as `Forbidden`; the system's code (`ECONNREFUSED`) if there was no answer. */
  readonly reason: string;
  /** The path of the request; empty if there was none. */
  readonly path: string;
  /** Texts of the answer's Warning headers. */
  readonly warnings: readonly string[];
  /** The answer's Retry-After, if it has one. */
  readonly retryAfterSeconds: number | undefined;
  /** The resource in the details of a refusal for lack of rights: a webhook's or a policy's denial has none. */
  readonly resource: string | undefined;

  constructor(
    code: number,
    reason: string,
    message: string,
    {
      path = '',
      warnings = [],
      retryAfterSeconds,
      resource,
    }: Partial<Pick<ApiError, 'path' | 'warnings' | 'retryAfterSeconds' | 'resource'>> = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.reason = reason;
    this.path = path;
    this.warnings = warnings;
    this.retryAfterSeconds = retryAfterSeconds;
    this.resource = resource;
  }
}

const TOO_LARGE = 'TooLarge';

/** The error of an answer or a list that is larger than its limit. */
export function tooLarge(message: string): ApiError {
  return new ApiError(0, TOO_LARGE, message);
}

export function isTooLarge(error: unknown): boolean {
  return isApiError(error, 0) && error.reason === TOO_LARGE;
}

/** Whether the error is the API server's, with this code. */
export function isApiError(error: unknown, ...codes: number[]): error is ApiError {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code));
}
