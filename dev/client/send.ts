/** Requests of the development tools: every verb, with the Warnings and the message of the answer, and watches. */
import type { KubeObject } from '../../api/kubernetes.ts';
import { ApiError } from '../../server/cluster/apiError.ts';
import {
  type ApiAnswer as AnswerOf,
  type ApiConnection,
  connectApi,
  type Request,
  warningTexts,
} from '../../server/cluster/connection.ts';
import { withQuery } from '../../server/cluster/paths.ts';
import type { Access } from './kubeconfig.ts';

export { ApiError };

export type AnyObject = KubeObject<any, any> & { [key: string]: any };

export type Answer<T = AnyObject> = AnswerOf<T>;

type Headers = Record<string, string>;

export interface RequestOptions extends Pick<Request, 'body' | 'contentType' | 'accept' | 'timeoutMs'> {
  query?: Record<string, string | undefined>;
  headers?: Headers;
}

const TIMEOUT_MS = 60_000;
const CONNECTIONS = 64;

const connections = new Map<string, ApiConnection>();

/** Connections are shared by all who sign in alike; watches have their own. */
function connectionOf(
  { url, ca, cert, key, token }: Access,
  use: 'requests' | 'watches',
  headers: Headers,
): ApiConnection {
  const id = JSON.stringify([use, url, ca, cert, key, token, headers]);
  const known = connections.get(id);
  if (known) return known;
  const found = connectApi(
    {
      getCurrentCluster: () => ({ name: url, server: url, skipTLSVerify: false }),
      async applyToHTTPSOptions(options) {
        Object.assign(options, { ca, cert, key, ...(token && { headers: { authorization: `Bearer ${token}` } }) });
      },
    },
    { timeoutMs: TIMEOUT_MS, headers, ...(use === 'requests' && { maxSockets: CONNECTIONS }) },
  );
  connections.set(id, found);
  return found;
}

/**
 * Sends one request. Rejects with an ApiError for what the API server refuses, with the socket's error where it does
 * not answer.
 */
export async function send<T = AnyObject>(
  access: Access,
  method: string,
  path: string,
  { query = {}, headers = {}, ...options }: RequestOptions = {},
): Promise<Answer<T>> {
  const request = { ...options, method: method as 'GET', path: withQuery(path, query) };
  if (access.connection) return inProcess<T>(access, access.connection, request, headers);
  return connectionOf(access, 'requests', headers).send<T>(request).catch(asItWas);
}

/** The events of a watch as they arrive. Ends when the server closes it; throws ApiError, or on a lost connection. */
export async function* watchEvents<T>(...[access, path, options]: Parameters<typeof watchLines>): AsyncGenerator<T> {
  if (access.connection) return yield* access.connection.watch(path, options.signal) as AsyncGenerator<T>;
  for await (const line of watchLines(access, path, options)) yield JSON.parse(line);
}

/** The events of a watch as lines of JSON. */
export async function* watchLines(
  access: Access,
  path: string,
  { signal, headers = {} }: { signal: AbortSignal; headers?: Headers },
): AsyncGenerator<string> {
  try {
    yield* connectionOf(access, 'watches', headers).lines({ path, signal });
  } catch (error) {
    asItWas(error);
  }
  signal.throwIfAborted();
}

/** Answers of an API server in this process: the simulation's. */
async function inProcess<T>(
  { token }: Access,
  connection: NonNullable<Access['connection']>,
  { method = 'GET', path, body, contentType = 'application/json', accept = 'application/json' }: Request,
  headers: Headers,
): Promise<Answer<T>> {
  const answer = await connection.request({
    method,
    path,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      accept,
      ...(body !== undefined && { 'content-type': contentType }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  const { warning } = answer.headers;
  const warnings = warning === undefined ? [] : warningTexts([warning]);
  if (answer.statusCode < 400) return { object: answer.body as T, warnings };
  const { reason = '', message = `HTTP ${answer.statusCode}` } = answer.body as { reason?: string; message?: string };
  throw new ApiError(answer.statusCode, reason, message, { path, warnings });
}

/** Throws a lost connection as an Error, which a test that expects a refusal (ApiError) doesn't accept. */
function asItWas(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 0) throw error;
  throw Object.assign(new Error(error.message), { code: error.reason });
}
