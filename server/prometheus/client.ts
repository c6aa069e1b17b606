/** One instant query to a Prometheus: no redirect is followed, and time and size are limited. */
import { Agent, request } from 'undici';
import type { Trust } from '../registry/trust.ts';

/** Of an answer; the query asks for few series. */
const MAX_BYTES = 1024 * 1024;

export interface Endpoint {
  /** Without `/api/v1`. */
  address: string;
  /** The header. */
  authorization?: string;
  trust?: Trust;
}

export interface QueryOptions {
  /** Series. */
  limit: number;
  timeoutMs: number;
}

/** Why there is no answer, as a sentence that begins after the provider's name. It carries no header, body or address. */
export class ProviderError extends Error {}

/**
 * The JSON of the answer.
 * @throws ProviderError
 */
export async function query(endpoint: Endpoint, text: string, options: QueryOptions): Promise<unknown> {
  const { limit, timeoutMs } = options;
  const url = new URL(`${endpoint.address.replace(/\/$/, '')}/api/v1/query`);
  url.search = new URLSearchParams({ query: text, timeout: `${timeoutMs}ms`, limit: String(limit) }).toString();
  const dispatcher = new Agent({ maxResponseSize: MAX_BYTES, connect: { ...endpoint.trust } });
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        accept: 'application/json',
        'user-agent': 'rollout-hooks',
        ...(endpoint.authorization && { authorization: endpoint.authorization }),
      },
    });
    if (statusCode !== 200) throw new ProviderError(refusal(statusCode));
    return parsed(await body.text());
  } catch (error) {
    throw error instanceof ProviderError ? error : new ProviderError(failure(error));
  } finally {
    await dispatcher.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProviderError('answers with something other than JSON: see its spec.address');
  }
}

const REFUSALS: Record<number, string> = {
  400: 'cannot parse the query: try it in Prometheus',
  401: 'refuses the credentials of its spec.secretRef',
  403: 'refuses the credentials of its spec.secretRef',
  404: 'has no Prometheus API at its spec.address',
  422: 'cannot execute the query: try it in Prometheus',
  503: 'is not available, or the query takes too long',
};

function refusal(status: number): string {
  if (status >= 300 && status < 400) return `answers ${status}, and redirects are not followed: see its spec.address`;
  return `${REFUSALS[status] ?? 'does not answer the query'} (status ${status})`;
}

function failure(error: unknown): string {
  const { name, code, cause } = error as { name?: string; code?: string; cause?: { code?: string } };
  if (name === 'TimeoutError' || name === 'ConnectTimeoutError') return 'did not answer in time';
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return `answers with more than ${MAX_BYTES} bytes: aggregate in the query`;
  const why = code ?? cause?.code;
  return `cannot be reached${why ? ` (${why})` : ''}`;
}
