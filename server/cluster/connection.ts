/**
 * Requests to the API server, of the server, the command, the page and the development tools.
 * client-node reads kubeconfigs and gets credentials (exec plugins, OIDC, client certificates, proxies). Its requests
 * are not used, because each opens a connection. The webhook reads in every write of a bound object, and a TLS
 * handshake would cost more than all the rest.
 */
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { KubeConfig } from '@kubernetes/client-node';
import type { EpochMs } from '../../api/kubernetes.ts';
import { retryAfterMs } from '../http/retryAfter.ts';
import { ApiError, tooLarge } from './apiError.ts';
import { withoutFieldOwners } from './fieldOwners.ts';

export interface Request {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The absolute path with the query: `/api/v1/namespaces?limit=1`. */
  path: string;
  /** A string is sent as it is, anything else as JSON. */
  body?: unknown;
  contentType?: string;
  accept?: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds for the answer; replaces the connection's limit. */
  timeoutMs?: number | undefined;
  /** The most bytes of the answer's body; a larger one is an error (`isTooLarge`). Absent: no limit. */
  maxBytes?: number;
  /** Called with the number of bytes in the answer's body. */
  measured?(bytes: number): void;
  /** Called with the time of the answer, by the API server's clock. */
  dated?(at: EpochMs): void;
  /** Leaves `fieldsV1` of `metadata.managedFields` out of the answer. */
  withoutFieldOwners?: boolean;
}

export interface ApiAnswer<T> {
  object: T;
  /** Texts of the answer's Warning headers, in order. */
  warnings: string[];
}

export interface ApiConnection {
  /**
   * Sends a request. A read or an apply is sent again if the API server has closed the idle connection that it used.
   * @throws ApiError for any status but 2xx, and if there is no answer in time
   */
  send<T>(request: Request): Promise<ApiAnswer<T>>;
  /** The lines of the body, for a watch or a log. @throws ApiError as `send` does */
  lines(request: Request): AsyncGenerator<string>;
  close(): void;
}

export interface ConnectionOptions {
  /** Milliseconds for an answer; 0: no limit. */
  timeoutMs: number;
  /** The headers of every request: `user-agent`, `Impersonate-User`. */
  headers: Readonly<Record<string, string | string[]>>;
  /** The most concurrent requests; others wait. A caller that must not wait needs a connection of its own. */
  maxSockets?: number;
  /** Requests compressed answers, for an API server that is far away. */
  gzip?: boolean;
}

/** The API server's address and credentials. */
type Credentials = Pick<KubeConfig, 'getCurrentCluster' | 'applyToHTTPSOptions'>;

/** The longest wait for a connection, however long an answer may take. */
const CONNECT_MS = 10_000;
/** The maximum age of cached credentials: ServiceAccount tokens rotate hourly, and exec plugins renew theirs too. */
const CREDENTIALS_MAX_AGE_MS = 30_000;
/** The longest time that a connection may be idle: a load balancer may drop an idle one without closing it. */
const MAX_IDLE_MS = 60_000;

export function connectApi(config: Credentials, options: ConnectionOptions): ApiConnection {
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error('no cluster configured: set KUBECONFIG, or run inside a cluster');
  const base = new URL(cluster.server);
  const isHttps = base.protocol === 'https:';
  const start = isHttps ? httpsRequest : httpRequest;
  const { maxSockets = Number.POSITIVE_INFINITY } = options;
  const own = new (isHttps ? HttpsAgent : HttpAgent)({
    keepAlive: true,
    maxSockets,
    scheduling: 'lifo',
    timeout: MAX_IDLE_MS,
  });
  let agent: HttpAgent = own;
  let known: Promise<RequestOptions> | undefined;
  let knownAt = 0;

  const credentials = (): Promise<RequestOptions> => {
    if (known && performance.now() - knownAt < CREDENTIALS_MAX_AGE_MS) return known;
    knownAt = performance.now();
    const found: RequestOptions = {};
    known = config.applyToHTTPSOptions(found).then(
      () => {
        // client-node makes a new agent for a proxy each time. The first one is kept, with its connections.
        if (cluster.proxyUrl && agent === own) agent = found.agent as HttpAgent;
        return { ...found, agent };
      },
      (error: Error) => {
        known = undefined;
        throw new ApiError(0, 'Credentials', firstLine(error.message));
      },
    );
    return known;
  };

  const open = async (request: Request, accepts: Record<string, string>) => {
    const found = await credentials();
    const { method = 'GET', path, body, contentType = 'application/json', accept = 'application/json' } = request;
    const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const outgoing = start({
      ...found,
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port || (isHttps ? 443 : 80),
      path: base.pathname.replace(/\/$/, '') + path,
      method,
      headers: {
        ...(found.headers as Record<string, string>),
        ...options.headers,
        ...accepts,
        accept,
        ...(payload !== undefined && { 'content-type': contentType, 'content-length': Buffer.byteLength(payload) }),
      },
      ...(request.signal && { signal: request.signal }),
    });
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve);
      outgoing.on('error', reject);
    });
    const { timeoutMs = options.timeoutMs } = request;
    const limit = timeoutMs > 0 ? Math.min(timeoutMs, CONNECT_MS) : CONNECT_MS;
    outgoing.on('socket', (socket) => {
      if (!socket.connecting) return;
      const late = Object.assign(new Error(`no connection within ${limit / 1000} s`), { code: 'ETIMEDOUT' });
      const timer = setTimeout(() => outgoing.destroy(late), limit);
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => clearTimeout(timer));
      socket.once('close', () => clearTimeout(timer));
    });
    outgoing.end(payload);
    return { outgoing, answer, timeoutMs };
  };

  async function send<T>(request: Request): Promise<ApiAnswer<T>> {
    let timer: NodeJS.Timeout | undefined;
    let isLate = false;
    let isAnswered = false;
    let outgoing: ClientRequest | undefined;
    try {
      const opened = await open(request, options.gzip ? { 'accept-encoding': 'gzip' } : {});
      outgoing = opened.outgoing;
      const late = () => {
        isLate = true;
        opened.outgoing.destroy(new Error('no answer in time'));
      };
      if (opened.timeoutMs > 0) timer = setTimeout(late, opened.timeoutMs);
      const response = await opened.answer;
      isAnswered = true;
      const at = Date.parse(response.headers.date ?? '');
      if (!Number.isNaN(at)) request.dated?.(at);
      const { text, bytes } = await textOf(response, request);
      refuse(request, response, text);
      request.measured?.(bytes);
      const read = request.withoutFieldOwners ? withoutFieldOwners(text) : text;
      return { object: contentOf(response, read) as T, warnings: warningsOf(response) };
    } catch (error) {
      const isClosed = ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
      const wasIdle = isClosed && !isAnswered && !isLate && outgoing?.reusedSocket;
      if (wasIdle && isRepeatable(request)) return send<T>(request);
      throw failure(error, isLate, request);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    send,
    async *lines(request) {
      try {
        const response = await (await open(request, {})).answer;
        if (response.statusCode !== 200) refuse(request, response, (await textOf(response, {})).text);
        yield* linesOf(response);
      } catch (error) {
        if (request.signal?.aborted) return;
        throw failure(error, false, request);
      }
    },
    close: () => agent.destroy(),
  };
}

async function textOf(
  response: IncomingMessage,
  { maxBytes = Number.POSITIVE_INFINITY }: Pick<Request, 'maxBytes'>,
): Promise<{ text: string; bytes: number }> {
  const isGzip = response.headers['content-encoding'] === 'gzip';
  const body: Readable = isGzip ? response.pipe(createGunzip()) : response;
  if (isGzip) response.on('error', (error) => body.destroy(error));
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      response.destroy();
      throw tooLarge(`the answer of the API server has more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return { text: Buffer.concat(chunks).toString('utf8'), bytes };
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

/** The content of the body: parsed JSON, or plain text, as from `/readyz`. */
function contentOf({ headers }: IncomingMessage, text: string): unknown {
  if (text === '') return undefined;
  return headers['content-type']?.startsWith('text/plain') ? text : JSON.parse(text);
}

function refuse(request: Request, response: IncomingMessage, text: string): void {
  const code = response.statusCode ?? 0;
  if (code >= 200 && code < 300) return;
  const after = retryAfterMs(response.headers['retry-after']);
  const extras = {
    path: pathOf(request),
    warnings: warningsOf(response),
    retryAfterSeconds: after === undefined ? undefined : after / 1000,
  };
  const status = statusOf(text);
  const { kind, causes } = status?.details ?? {};
  const resource = causes ? undefined : kind;
  const plain = `${whatOf(request)}: HTTP ${code} ${status ? '' : firstLine(text).slice(0, 200)}`.trimEnd();
  throw new ApiError(code, status?.reason ?? '', status?.message ?? plain, { ...extras, resource });
}

/** The Status object of an error; undefined if a proxy, or a server that is not ready yet, answers in plain text. */
function statusOf(
  text: string,
): { reason?: string; message?: string; details?: { kind?: string; causes?: unknown[] } } | undefined {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return undefined;
  }
}

/** Whether the request may be sent twice, because it changes nothing, or changes nothing the second time. */
function isRepeatable({ method = 'GET', contentType = '' }: Request): boolean {
  return method === 'GET' || (method === 'PATCH' && contentType.startsWith('application/apply-patch'));
}

function failure(error: unknown, isLate: boolean, request: Request): ApiError {
  if (error instanceof ApiError) return error;
  const { code = 'NoAnswer', message } = error as NodeJS.ErrnoException;
  const extras = { path: pathOf(request) };
  if (isLate) return new ApiError(0, 'Timeout', `${whatOf(request)}: no answer from the API server in time`, extras);
  return new ApiError(0, code, `${whatOf(request)}: ${firstLine(message)}`, extras);
}

const pathOf = ({ path }: Request) => path.split('?', 1)[0]!;
const whatOf = (request: Request) => `${request.method ?? 'GET'} ${pathOf(request)}`;

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

const WARNING = /299 \S+ "((?:[^"\\]|\\.)*)"/g;

function warningsOf({ headers }: IncomingMessage): string[] {
  return warningTexts([headers.warning ?? []].flat());
}

/** Texts of `Warning: 299 - "text"` headers, unescaped, in order. */
export function warningTexts(headers: readonly string[]): string[] {
  return headers.flatMap((header) =>
    [...header.matchAll(WARNING)].map(([, text = '']) => text.replace(/\\(.)/g, '$1')),
  );
}
