/**
 * Requests to the API server. client-node reads kubeconfigs and gets credentials (exec plugins, OIDC, client certificates, proxies); the
 * requests are Node's own, which streams, keeps connections and runs on every Node that is supported.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ApiError } from './apiError.ts';
import type { Selected } from './kubeconfig.ts';

export interface Request {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the root, without the query: `/api/v1/namespaces`. */
  path: string;
  query?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  contentType?: string;
  accept?: string;
  signal?: AbortSignal | undefined;
}

export interface Answer<T> {
  object: T;
  /** Texts of the answer's Warning headers, in order. */
  warnings: string[];
}

export interface Connection {
  /** @throws ApiError for any status but 2xx, and when no answer came in time. */
  send<T>(request: Request): Promise<Answer<T>>;
  /** The body as it arrives, a line at a time: a watch, or a log. @throws ApiError likewise. */
  lines(request: Request): AsyncGenerator<string>;
  close(): void;
}

export interface ConnectionOptions {
  /** Milliseconds for an answer; 0: no limit. */
  timeoutMs: number;
  as?: string | undefined;
  asGroup?: readonly string[] | undefined;
  userAgent: string;
}

/** Nobody waits longer for a connection, whatever an answer may take. */
const CONNECT_MS = 10_000;
/** Exec plugins and ServiceAccounts hand out new credentials from time to time. */
const CREDENTIALS_MS = 30_000;

export function connect(selected: Selected, options: ConnectionOptions): Connection {
  const { config, server } = selected;
  const base = new URL(server);
  const isHttps = base.protocol === 'https:';
  let known: Promise<RequestOptions> | undefined;
  let knownAt = 0;
  let agent: HttpAgent | HttpsAgent | undefined;

  const credentials = (): Promise<RequestOptions> => {
    if (known && performance.now() - knownAt < CREDENTIALS_MS) return known;
    knownAt = performance.now();
    const found: RequestOptions & Record<string, any> = {};
    known = config.applyToHTTPSOptions(found).then(
      () => {
        const { ca, cert, key, rejectUnauthorized, servername } = found;
        const tls = { ca, cert, key, servername, ...(rejectUnauthorized === false && { rejectUnauthorized }) };
        const isProxied = config.getCurrentCluster()?.proxyUrl;
        agent ??= isProxied
          ? (found.agent as HttpAgent)
          : isHttps
            ? new HttpsAgent({ keepAlive: true, ...tls })
            : new HttpAgent({ keepAlive: true });
        return { ...found, agent };
      },
      (error: Error) => {
        known = undefined;
        throw new ApiError(0, 'Credentials', firstLine(error.message));
      },
    );
    return known;
  };

  const open = async (request: Request, isStream: boolean): Promise<IncomingMessage> => {
    const found = await credentials();
    const payload = request.body === undefined ? undefined : bodyText(request.body);
    const headers: Record<string, string | string[] | number> = {
      ...(found.headers as Record<string, string>),
      accept: request.accept ?? 'application/json',
      'user-agent': options.userAgent,
      ...(!isStream && { 'accept-encoding': 'gzip' }),
      ...(payload !== undefined && {
        'content-type': request.contentType ?? 'application/json',
        'content-length': Buffer.byteLength(payload),
      }),
      ...(options.as && { 'Impersonate-User': options.as }),
      ...(options.asGroup?.length && { 'Impersonate-Group': [...options.asGroup] }),
    };
    return exchange(
      isHttps ? httpsRequest : httpRequest,
      {
        ...found,
        host: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port || (isHttps ? 443 : 80),
        path: base.pathname.replace(/\/$/, '') + pathWithQuery(request),
        method: request.method ?? 'GET',
        headers,
        signal: request.signal,
      },
      payload,
      options.timeoutMs,
    );
  };

  return {
    async send<T>(request: Request) {
      const timer = new Deadline(options.timeoutMs, request.signal);
      try {
        const response = await open({ ...request, signal: timer.signal }, false);
        const text = await textOf(response);
        refuse(request, response, text);
        return { object: (text === '' ? undefined : JSON.parse(text)) as T, warnings: warningsOf(response) };
      } catch (error) {
        throw failure(error, timer, request);
      } finally {
        timer.end();
      }
    },
    async *lines(request) {
      let response: IncomingMessage;
      try {
        response = await open(request, true);
        if (response.statusCode !== 200) refuse(request, response, await textOf(response));
        yield* linesOf(response);
      } catch (error) {
        if (request.signal?.aborted) return;
        throw failure(error, undefined, request);
      }
    },
    close: () => agent?.destroy(),
  };
}

/** Ends a request that takes too long, and with it whoever waits for its body. */
class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #outer: AbortSignal | undefined;
  readonly #abort = () => this.#controller.abort();
  isOver = false;

  constructor(ms: number, outer: AbortSignal | undefined) {
    this.#outer = outer;
    outer?.addEventListener('abort', this.#abort, { once: true });
    if (outer?.aborted) this.#abort();
    if (ms > 0) {
      this.#timer = setTimeout(() => {
        this.isOver = true;
        this.#abort();
      }, ms);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#abort);
  }
}

function exchange(
  request: typeof httpsRequest | typeof httpRequest,
  options: RequestOptions,
  payload: string | undefined,
  timeoutMs: number,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(options, resolve);
    const limit = timeoutMs > 0 ? Math.min(timeoutMs, CONNECT_MS) : CONNECT_MS;
    outgoing.on('socket', (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(
        () =>
          outgoing.destroy(Object.assign(new Error(`no connection within ${limit / 1000} s`), { code: 'ETIMEDOUT' })),
        limit,
      );
      socket.once(socket instanceof Object && 'encrypted' in socket ? 'secureConnect' : 'connect', () =>
        clearTimeout(timer),
      );
      socket.once('close', () => clearTimeout(timer));
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const isGzip = response.headers['content-encoding'] === 'gzip';
  const body: Readable = isGzip ? response.pipe(createGunzip()) : response;
  if (isGzip) response.on('error', (error) => body.destroy(error));
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      rest.push(chunk.subarray(start, end));
      yield Buffer.concat(rest).toString('utf8');
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
}

function refuse({ method = 'GET', path }: Request, response: IncomingMessage, text: string): void {
  const code = response.statusCode ?? 0;
  if (code >= 200 && code < 300) return;
  const after = Number(response.headers['retry-after']);
  const extras = {
    path,
    warnings: warningsOf(response),
    retryAfterSeconds: Number.isFinite(after) ? after : undefined,
  };
  try {
    const { reason = '', message } = JSON.parse(text) as { reason?: string; message?: string };
    throw new ApiError(code, reason, message ?? `${method} ${path}: HTTP ${code}`, extras);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(code, '', `${method} ${path}: HTTP ${code} ${firstLine(text).slice(0, 200)}`.trimEnd(), extras);
  }
}

function failure(error: unknown, deadline: Deadline | undefined, { method = 'GET', path }: Request): unknown {
  if (error instanceof ApiError) return error;
  if (deadline?.isOver) return new ApiError(0, 'Timeout', `${method} ${path}: no answer in time`);
  const { code = 'NoAnswer', message } = error as NodeJS.ErrnoException;
  return new ApiError(0, code, firstLine(message));
}

function pathWithQuery({ path, query = {} }: Request): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

function bodyText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

const WARNING = /299 \S+ "((?:[^"\\]|\\.)*)"/g;

function warningsOf({ headers }: IncomingMessage): string[] {
  return [headers.warning ?? []]
    .flat()
    .flatMap((header) => [...header.matchAll(WARNING)].map(([, text = '']) => text.replace(/\\(.)/g, '$1')));
}
