/** The API server as Metacontroller uses it: with its field manager, and retries where the server answers "later". */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Access } from '../../client/kubeconfig.ts';
import { findResource, type Resource, resourcePath } from '../../client/resources.ts';
import { ApiError, send, watchEvents } from '../../client/send.ts';
import { describe } from '../json/objects.ts';
import { type Clock, pause } from '../runtime/clock.ts';

/** The most repetitions of a request that the server answers with Retry-After, as in client-go. */
const MAX_RETRIES = 10;
/** Waits of `updateLive` before the second, third and fourth attempt. */
const RETRY_MS = [10, 50, 250];

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
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  /** `signal` ends the requests. */
  constructor(access: Access, clock: Clock, signal: AbortSignal) {
    this.#access = access;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** The resource of a kind, or with a plural name. Throws when the server doesn't serve it. */
  resource(apiVersion: string, wanted: { kind?: string; name?: string }): Promise<Resource> {
    return findResource(this.#access, apiVersion, wanted);
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

  /**
   * Read-change-write on the live object, repeated on conflict: for writes that are right whatever else has changed.
   * `change` gets the live object and returns the one to write, or undefined to leave it alone. Throws 404 when the
   * object is gone or another one has its name, 409 when every attempt met a conflict.
   */
  async updateLive(
    resource: Resource,
    original: KubeObject,
    change: (live: KubeObject) => KubeObject | undefined,
    subresource?: 'status',
  ): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const live = await this.read(resource, original);
      if (live.metadata.uid !== original.metadata.uid) {
        throw new ApiError(404, 'NotFound', `${describe(original)} was replaced by another object of that name`);
      }
      const changed = change(live);
      if (!changed) return;
      try {
        await this.update(resource, changed, subresource);
        return;
      } catch (error) {
        const wait = RETRY_MS[attempt];
        if (!isConflict(error) || wait === undefined) throw error;
        await pause(this.#clock, wait);
      }
    }
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
  watch<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
    return watchEvents<T>(this.#access, path, { signal, headers: HEADERS });
  }

  async #send<T = KubeObject>(method: Method, path: string, body?: unknown): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
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
}
