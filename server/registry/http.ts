/** HTTP requests with limits of time (by a signal), size (while reading), and number and hosts of redirects. */
import { type Dispatcher, fetch, type Headers, type Response } from 'undici';
import { jsonMemory } from '../../core/collection/memoryLimit.ts';
import { RegistryError } from './error.ts';

export const MAX_REDIRECTS = 3;
export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

const MAX_ERROR_CHARACTERS = 4096;
const ERROR_CODE = /"code"\s*:\s*"([A-Z][A-Z_]{1,40})"/;

export interface RegistryAnswer {
  status: number;
  headers: Headers;
  /** Empty unless the status is 2xx. */
  body: Buffer;
  /** The registry's code of the error: `DENIED`. */
  errorCode?: string;
}

export interface Connections {
  signal: AbortSignal;
  /** A dispatcher of `registrySockets`: any other would connect to local addresses too. */
  dispatcher: Dispatcher;
}

export interface BoundedRequest extends Connections {
  url: URL;
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT';
  headers?: Record<string, string>;
  body?: URLSearchParams | Uint8Array;
  maxBytes: number;
  /** Whether a redirect to another host is returned as the answer, instead of an error. It is never followed. */
  returnsForeignRedirect?: boolean;
}

/**
 * The answer to a request. Redirects are followed on the same host only, so that a registry can't send our credentials
 * to another.
 * @throws RegistryError
 */
export async function boundedFetch(request: BoundedRequest): Promise<RegistryAnswer> {
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    const response = await send(request, url);
    const location = isRedirect(response.status) ? response.headers.get('location') : null;
    if (location === null) return answerOf(response, request, url);
    await response.body?.cancel();
    if (redirects === MAX_REDIRECTS) throw new RegistryError(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
    const to = redirectTarget(url, location, request.method);
    if (!to) {
      const { status, headers } = response;
      if (request.returnsForeignRedirect) return { status, headers, body: Buffer.alloc(0) };
      throw new RegistryError(`${url.host} redirects elsewhere, which is not followed`);
    }
    url = to;
  }
}

async function send(
  { method = 'GET', headers, body, signal, dispatcher }: BoundedRequest,
  url: URL,
): Promise<Response> {
  try {
    return await fetch(url, {
      method,
      headers: { 'user-agent': 'rollout-hooks', ...headers },
      redirect: 'manual',
      signal,
      dispatcher,
      ...(body && { body }),
    });
  } catch (error) {
    throw unreachable(url, error);
  }
}

/** The address to follow a redirect to; undefined if it must not be followed. */
function redirectTarget(from: URL, location: string, method: string | undefined): URL | undefined {
  const to = URL.parse(location, from.href);
  const sameHost = to?.hostname === from.hostname && (to.port === from.port || to.protocol !== from.protocol);
  const noDowngrade = to?.protocol === from.protocol || to?.protocol === 'https:';
  return to && sameHost && noDowngrade && method !== 'POST' && method !== 'PUT' ? to : undefined;
}

async function answerOf(response: Response, { maxBytes }: BoundedRequest, url: URL): Promise<RegistryAnswer> {
  const { status, headers } = response;
  if (!response.ok || !response.body) {
    const errorCode = response.body ? await errorCodeOf(response.body) : undefined;
    return { status, headers, body: Buffer.alloc(0), ...(errorCode && { errorCode }) };
  }
  const tooLarge = () => new RegistryError(`${url.host} answers with more than ${maxBytes} bytes`);
  if (Number(headers.get('content-length') ?? 0) > maxBytes) {
    await response.body.cancel();
    throw tooLarge();
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof RegistryError ? error : unreachable(url, error);
  }
  return { status, headers, body: Buffer.concat(chunks) };
}

/** The first error code in the body of an error: the only part that may be shown. Reads no more than it needs. */
export async function errorCodeOf(body: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  let text = '';
  try {
    for await (const chunk of body) {
      text += Buffer.from(chunk).toString('latin1');
      if (text.length > MAX_ERROR_CHARACTERS) break;
    }
  } catch {
    // Without a code, the status alone is reported.
  }
  return ERROR_CODE.exec(text.slice(0, MAX_ERROR_CHARACTERS))?.[1];
}

const TOO_LATE = /^(Timeout|Abort|(Headers|Body|Connect)Timeout)Error$/;

/** The error for a request without an answer: a sentence without the URL. */
export function unreachable(url: URL, error: unknown): RegistryError {
  const { name, code, cause } = error as { name?: string; code?: string; cause?: { name?: string; code?: string } };
  // The reason why no connection was opened.
  for (const each of [error, cause]) if (each instanceof RegistryError) return each;
  if (TOO_LATE.test(cause?.name ?? name ?? '')) {
    return new RegistryError(`${url.host} did not answer in time`, 'Unavailable');
  }
  const why = cause?.code ?? code;
  return new RegistryError(`${url.host} cannot be reached${why ? ` (${why})` : ''}`, 'Unavailable');
}

/** The memory limit of parsed JSON: 4 MiB of nested lists would block the process for a second and take 120 MiB. */
const MAX_JSON_MEMORY = 8 * 1024 * 1024;

/** The JSON object or list of a body. @throws RegistryError for anything else */
export function parseJson(body: Buffer, host: string): unknown {
  if (jsonMemory(body) > MAX_JSON_MEMORY) throw new RegistryError(`${host} answers with too many fields`);
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw new RegistryError(`${host} answers with something other than a JSON object: check that it is a registry`);
}
