/** GET with limits: time by the signal, size while it is read, redirects by number and host. */
import { type Dispatcher, fetch, type Headers, type Response } from 'undici';
import { RegistryError } from './error.ts';

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface Answer {
  status: number;
  headers: Headers;
  /** Empty unless the status is 2xx. */
  body: Buffer;
}

export interface BoundedRequest {
  url: URL;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  form?: URLSearchParams;
  maxBytes: number;
  signal: AbortSignal;
  /** Where connections are not the shared ones. */
  dispatcher?: Dispatcher | undefined;
}

/**
 * Follows redirects on the same host only: a registry must not send us, and our credentials, elsewhere.
 * @throws RegistryError
 */
export async function boundedFetch(request: BoundedRequest): Promise<Answer> {
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    const response = await send(request, url);
    const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
    if (location === null) return answerOf(response, request, url);
    await response.body?.cancel();
    if (redirects === MAX_REDIRECTS) throw new RegistryError(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
    url = redirectTarget(url, location, request.method);
  }
}

async function send(
  { method = 'GET', headers, form, signal, dispatcher }: BoundedRequest,
  url: URL,
): Promise<Response> {
  try {
    return await fetch(url, {
      method,
      headers: { 'user-agent': 'rollout-hooks', ...headers },
      redirect: 'manual',
      signal,
      ...(dispatcher && { dispatcher }),
      ...(form && { body: form }),
    });
  } catch (error) {
    throw unreachable(url, error);
  }
}

function redirectTarget(from: URL, location: string, method: string | undefined): URL {
  const to = URL.parse(location, from.href);
  const sameHost = to?.hostname === from.hostname && (to.port === from.port || to.protocol !== from.protocol);
  const noDowngrade = to?.protocol === from.protocol || to?.protocol === 'https:';
  if (!to || !sameHost || !noDowngrade || method === 'POST') {
    throw new RegistryError(`${from.host} redirects elsewhere, which is not followed`);
  }
  return to;
}

async function answerOf(response: Response, { maxBytes }: BoundedRequest, url: URL): Promise<Answer> {
  const { status, headers } = response;
  if (!response.ok || !response.body) {
    await response.body?.cancel();
    return { status, headers, body: Buffer.alloc(0) };
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

function unreachable(url: URL, error: unknown): RegistryError {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) {
    return new RegistryError(`${url.host} did not answer in time`);
  }
  const cause = (error as { cause?: { code?: string } }).cause?.code;
  return new RegistryError(`${url.host} cannot be reached${cause ? ` (${cause})` : ''}`);
}
