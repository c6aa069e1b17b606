/**
 * The API server as Metacontroller asks it: with the rate limit shipped for it, its field manager, and patience where
 * that says "later".
 */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Access } from '../../client/kubeconfig.ts';
import { type Resource, resourcePath } from '../../client/resources.ts';
import { ApiError, send, watchEvents } from '../../client/send.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import { LIMITS } from '../runtime/limits.ts';
import { TokenBucket } from '../runtime/rateLimit.ts';

/** How often a request is repeated when the server answers "later" with Retry-After, as client-go does. */
const MAX_RETRIES = 10;

/** The field manager that the API server records is the part before the slash. */
const HEADERS = { 'user-agent': 'metacontroller/4.17 (rollout-hooks engine)' };

export function hasCode(error: unknown, code: number): boolean {
  return error instanceof ApiError && error.code === code;
}

/** Written with a resourceVersion that is no longer the current one. */
export function isConflict(error: unknown): boolean {
  return hasCode(error, 409) && !isAlreadyExists(error);
}

export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'AlreadyExists';
}

export function isNotFound(error: unknown): boolean {
  return hasCode(error, 404);
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export class ApiClient {
  readonly #access: Access;
  readonly #bucket = new TokenBucket(LIMITS.qps, LIMITS.burst);
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  constructor(access: Access, clock: Clock, signal: AbortSignal) {
    this.#access = access;
    this.#clock = clock;
    this.#signal = signal;
  }

  get<T = KubeObject>(path: string): Promise<T> {
    return this.#send<T>('GET', path);
  }

  create(resource: Resource, object: KubeObject): Promise<KubeObject> {
    return this.#send('POST', resourcePath(resource, { namespace: object.metadata.namespace }), object);
  }

  update(resource: Resource, object: KubeObject, subresource?: 'status'): Promise<KubeObject> {
    return this.#send('PUT', resourcePath(resource, object.metadata, subresource), object);
  }

  read(resource: Resource, object: KubeObject): Promise<KubeObject> {
    return this.#send('GET', resourcePath(resource, object.metadata));
  }

  /** Background deletion of exactly this object: one with the same name and another uid stays. */
  async remove(resource: Resource, object: KubeObject): Promise<void> {
    await this.#send('DELETE', resourcePath(resource, object.metadata), {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: object.metadata.uid },
      propagationPolicy: 'Background',
    });
  }

  /** The events of a watch as they arrive. Ends when the server closes it; throws ApiError, or on a lost connection. */
  async *watch<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
    await this.#waitForToken();
    yield* watchEvents<T>(this.#access, path, { signal, headers: HEADERS });
  }

  async #send<T = KubeObject>(method: Method, path: string, body?: unknown): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      await this.#waitForToken();
      this.#signal.throwIfAborted();
      try {
        return (await send<T>(this.#access, method, path, { body, headers: HEADERS })).object;
      } catch (error) {
        if (!(error instanceof ApiError) || attempt >= MAX_RETRIES) throw error;
        const { code, retryAfterSeconds } = error;
        const later = code === 429 || code >= 500;
        if (!later || retryAfterSeconds === undefined || !(retryAfterSeconds >= 0)) throw error;
        await pause(this.#clock, retryAfterSeconds * 1000, this.#signal);
      }
    }
  }

  #waitForToken(): Promise<void> | undefined {
    const delay = this.#bucket.reserve(this.#clock.now());
    return delay > 0 ? pause(this.#clock, delay, this.#signal) : undefined;
  }
}
