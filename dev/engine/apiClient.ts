/** Requests to the API server: keep-alive, the rate limit shipped for Metacontroller, errors as the server states them. */

import { Pool } from 'undici';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ClusterAccess } from '../client/kubeconfig.ts';
import { type Clock, pause } from './clock.ts';
import type { Resource } from './discovery.ts';
import { LIMITS } from './limits.ts';
import { TokenBucket } from './rateLimit.ts';

const CONNECTIONS = 64;
/** How often a request is repeated when the server answers "later" with Retry-After, as client-go does. */
const MAX_RETRIES = 10;
/** A watch is closed by the server after at most 10 minutes; without bytes for longer the connection is dead. */
const WATCH_SILENCE_MS = 11 * 60_000;

/** The field manager that the API server records is the part before the slash. */
const USER_AGENT = 'metacontroller/4.17 (rollout-hooks engine)';

export class ApiError extends Error {
  readonly status: number;
  /** The word the API server gives the failure, such as `AlreadyExists`. */
  readonly reason: string | undefined;
  constructor(status: number, message: string, reason?: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
  }
}

export function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

/** Written with a resourceVersion that is no longer the current one. */
export function isConflict(error: unknown): boolean {
  return hasStatus(error, 409) && !isAlreadyExists(error);
}

export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'AlreadyExists';
}

export function isNotFound(error: unknown): boolean {
  return hasStatus(error, 404);
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export class ApiClient {
  readonly #requests: Pool;
  readonly #watches: Pool;
  readonly #headers: Record<string, string>;
  readonly #bucket = new TokenBucket(LIMITS.qps, LIMITS.burst);
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  constructor(access: ClusterAccess, clock: Clock, signal: AbortSignal) {
    const connect = { ca: access.ca, cert: access.cert, key: access.key, rejectUnauthorized: !access.insecure };
    this.#requests = new Pool(access.server, { connections: CONNECTIONS, connect });
    this.#watches = new Pool(access.server, { connections: null, connect, bodyTimeout: WATCH_SILENCE_MS });
    this.#headers = { accept: 'application/json', 'user-agent': USER_AGENT };
    if (access.token) this.#headers.authorization = `Bearer ${access.token}`;
    this.#clock = clock;
    this.#signal = signal;
  }

  get<T = KubeObject>(path: string): Promise<T> {
    return this.#send<T>('GET', path);
  }

  create(resource: Resource, object: KubeObject): Promise<KubeObject> {
    return this.#send('POST', pathOf(resource, object.metadata.namespace), object);
  }

  update(resource: Resource, object: KubeObject, subresource?: 'status'): Promise<KubeObject> {
    const path = pathOf(resource, object.metadata.namespace, object.metadata.name);
    return this.#send('PUT', subresource ? `${path}/${subresource}` : path, object);
  }

  read(resource: Resource, object: KubeObject): Promise<KubeObject> {
    return this.#send('GET', pathOf(resource, object.metadata.namespace, object.metadata.name));
  }

  /** Background deletion of exactly this object: one with the same name and another uid stays. */
  async remove(resource: Resource, object: KubeObject): Promise<void> {
    await this.#send('DELETE', pathOf(resource, object.metadata.namespace, object.metadata.name), {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: object.metadata.uid },
      propagationPolicy: 'Background',
    });
  }

  /** The lines of a watch as they arrive. Ends when the server closes it; throws ApiError, or on a lost connection. */
  async *watch(path: string, signal: AbortSignal): AsyncGenerator<string> {
    await this.#waitForToken();
    const { statusCode, body } = await this.#watches.request({ method: 'GET', path, headers: this.#headers, signal });
    if (statusCode !== 200) throw errorOf(statusCode, await body.text());
    let rest: Buffer[] = [];
    for await (const chunk of body as AsyncIterable<Buffer>) {
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

  async close(): Promise<void> {
    await Promise.all([this.#requests.destroy(), this.#watches.destroy()]);
  }

  async #send<T = KubeObject>(method: Method, path: string, body?: unknown): Promise<T> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = text === undefined ? this.#headers : { ...this.#headers, 'content-type': 'application/json' };
    for (let attempt = 0; ; attempt += 1) {
      await this.#waitForToken();
      this.#signal.throwIfAborted();
      const response = await this.#requests.request({ method, path, headers, body: text });
      const answer = await response.body.text();
      if (response.statusCode < 300) return JSON.parse(answer) as T;
      const retryAfter = Number(response.headers['retry-after']);
      const later = response.statusCode === 429 || response.statusCode >= 500;
      if (!later || !(retryAfter >= 0) || attempt >= MAX_RETRIES) throw errorOf(response.statusCode, answer);
      await pause(this.#clock, retryAfter * 1000, this.#signal);
    }
  }

  #waitForToken(): Promise<void> | undefined {
    const delay = this.#bucket.reserve(this.#clock.now());
    return delay > 0 ? pause(this.#clock, delay, this.#signal) : undefined;
  }
}

/** The path of a collection, or of one object. A namespace given for a cluster-scoped resource is ignored. */
export function pathOf(resource: Resource, namespace?: string, name?: string): string {
  const root = resource.apiVersion.includes('/') ? `/apis/${resource.apiVersion}` : `/api/${resource.apiVersion}`;
  const scope = resource.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${resource.name}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

function errorOf(status: number, answer: string): ApiError {
  try {
    const { message, reason } = JSON.parse(answer) as { message?: string; reason?: string };
    if (message) return new ApiError(status, message, reason);
  } catch {
    // Not a Status object: a proxy, or a server that is not ready yet. The text says what it is.
  }
  return new ApiError(status, `HTTP ${status}: ${answer.slice(0, 500)}`);
}
