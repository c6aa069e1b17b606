/**
 * The workshop's client of the API server: every verb, with the Warnings and the message of the answer, and watches. Not the product's
 * (server/cluster): what tests it must not share its faults, and it never watches.
 */
import { Pool } from 'undici';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Access, ConnectionRequest } from './kubeconfig.ts';

export type AnyObject = KubeObject<any, any> & { [key: string]: any };

export interface Answer<T = AnyObject> {
  object: T;
  /** Texts of the answer's Warning headers, in order. */
  warnings: string[];
}

/** What the API server refused, in its own words. */
export class ApiError extends Error {
  readonly code: number;
  /** Machine-readable, such as `Forbidden` or `Conflict`. */
  readonly reason: string;
  readonly warnings: string[];
  /** The Status object of the answer, or its text. */
  readonly body: any;
  /** Where the API server says when it wants to be asked again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(request: string, code: number, body: any, headers: Headers = {}) {
    super(typeof body?.message === 'string' ? body.message : `${request}: HTTP ${code} ${String(body).slice(0, 200)}`);
    this.name = 'ApiError';
    this.code = code;
    this.reason = body?.reason ?? '';
    this.body = body;
    this.warnings = warningsOf(headers.warning);
    const retryAfter = headers['retry-after'];
    this.retryAfterSeconds = retryAfter === undefined ? undefined : Number(retryAfter);
  }
}

export interface RequestOptions {
  query?: Record<string, string | undefined>;
  body?: unknown;
  contentType?: string;
  accept?: string;
  timeoutMs?: number;
  headers?: Record<string, string>;
}

type Headers = Record<string, string | string[] | undefined>;

const CONNECTIONS = 64;
/** A watch is closed by the server after at most 10 minutes; without bytes for longer the connection is dead. */
const WATCH_SILENCE_MS = 11 * 60_000;

const pools = new Map<string, Pool>();

/** Connections are shared by all who trust the same authority and show the same certificate; a watch has one of its own. */
function poolFor({ url, ca, cert, key }: Access, use: 'requests' | 'watches'): Pool {
  const shared = `${use} ${url} ${ca}${cert ?? ''}`;
  let pool = pools.get(shared);
  if (!pool) {
    const connections = use === 'requests' ? CONNECTIONS : null;
    pool = new Pool(url, { connections, connect: { ca, cert, key }, allowH2: false });
    pools.set(shared, pool);
  }
  return pool;
}

/** Sends one request. Rejects with an ApiError for 400 and above, with the socket's error when nobody answers. */
export async function send<T = AnyObject>(
  access: Access,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer<T>> {
  const url = new URL(path, access.url);
  for (const [key, value] of Object.entries(options.query ?? {})) {
    if (value !== undefined) url.searchParams.set(key, value);
  }
  const { body: content, timeoutMs = 60_000 } = options;
  const request: ConnectionRequest = {
    method,
    path: url.pathname + url.search,
    headers: {
      ...authorization(access),
      accept: options.accept ?? 'application/json',
      ...(content !== undefined && { 'content-type': options.contentType ?? 'application/json' }),
      ...options.headers,
    },
    body: content === undefined || typeof content === 'string' ? content : JSON.stringify(content),
  };
  const { statusCode, headers, body } = access.connection
    ? await access.connection.request(request)
    : await overHttp(access, request, timeoutMs);
  if (statusCode >= 400) throw new ApiError(`${method} ${url.pathname}`, statusCode, body, headers);
  return { object: body as T, warnings: warningsOf(headers.warning) };
}

async function overHttp(access: Access, request: ConnectionRequest, timeoutMs: number) {
  const response = await poolFor(access, 'requests').request({
    ...request,
    method: request.method as 'GET',
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return { statusCode: response.statusCode, headers: response.headers, body: await bodyOf(response) };
}

/** The lines of a watch as they arrive. Ends when the server closes it; throws ApiError, or on a lost connection. */
export async function* watchLines(
  access: Access,
  path: string,
  { signal, headers }: { signal: AbortSignal; headers?: Record<string, string> },
): AsyncGenerator<string> {
  if (access.connection) return yield* access.connection.watch(path, signal);
  const response = await poolFor(access, 'watches').request({
    method: 'GET',
    path,
    headers: { ...authorization(access), accept: 'application/json', ...headers },
    bodyTimeout: WATCH_SILENCE_MS,
    signal,
  });
  if (response.statusCode !== 200) {
    throw new ApiError(`watch ${path}`, response.statusCode, await bodyOf(response), response.headers);
  }
  let rest: Buffer[] = [];
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      rest.push(chunk.subarray(start, end));
      yield (rest.length === 1 ? rest[0]! : Buffer.concat(rest)).toString('utf8');
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
}

const authorization = ({ token }: Access): Record<string, string> =>
  token ? { authorization: `Bearer ${token}` } : {};

/** Parsed where it is JSON: a proxy, or a server that is not ready yet, answers in plain text. */
async function bodyOf({ headers, body }: { headers: Headers; body: { text(): Promise<string> } }): Promise<unknown> {
  const text = await body.text();
  return headers['content-type']?.includes('json') ? JSON.parse(text) : text;
}

const WARNING = /299 \S+ "((?:[^"\\]|\\.)*)"/g;

/** Texts of `Warning: 299 - "text"` headers, unescaped, in order. */
export function warningsOf(headers: string | string[] = []): string[] {
  return [headers]
    .flat()
    .flatMap((header) => [...header.matchAll(WARNING)].map(([, text = '']) => text.replace(/\\(.)/g, '$1')));
}
