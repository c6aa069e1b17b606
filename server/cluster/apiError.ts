/** An error of the API server, with its message. `code` is the HTTP status; 0 without an answer. */
export class ApiError extends Error {
  readonly code: number;
  /** The API server's reason, such as `Forbidden`; without an answer the system's code, such as `ECONNREFUSED`. */
  readonly reason: string;
  /** The path of the request; empty if there was none. */
  readonly path: string;
  /** Texts of the answer's Warning headers. */
  readonly warnings: readonly string[];
  /** The answer's Retry-After, if it has one. */
  readonly retryAfterSeconds: number | undefined;
  /** The resource that the user has no right to. A denial by a webhook or policy has none. */
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

/** The error for an answer or a list that is larger than its limit. */
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
