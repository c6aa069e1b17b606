/** A client of the API server that acts as kubectl or a controller. */

import type { Access } from '../client/kubeconfig.ts';
import { applyObject, type ObjectRef, pathOf } from '../client/resources.ts';
import { type Answer, type AnyObject, ApiError, type RequestOptions, send } from '../client/send.ts';
import { mergePatchForApply, withLastApplied } from './clientSideApply.ts';

type Options = Pick<RequestOptions, 'headers'> & {
  subresource?: string;
  fieldManager?: string;
  dryRun?: boolean;
};

const query = ({ fieldManager, dryRun }: Options) => ({ fieldManager, dryRun: dryRun ? 'All' : undefined });

/** The number of PUTs before a conflict is an error. */
const ATTEMPTS = 10;

/** Every method rejects with an ApiError that carries code, message and warnings of the API server's answer. */
export class User {
  readonly access: Access;

  constructor(access: Access) {
    this.access = access;
  }

  /** Milliseconds since 1970 by the user's clock. */
  now(): number {
    return this.access.connection?.now() ?? Date.now();
  }

  /** The live object. `find` returns undefined instead of an error for a missing one. */
  async get<T = AnyObject>(ref: ObjectRef): Promise<T> {
    return (await send<T>(this.access, 'GET', await pathOf(this.access, ref))).object;
  }

  async find<T = AnyObject>(ref: ObjectRef): Promise<T | undefined> {
    return this.get<T>(ref).catch((error) => {
      if (error.code === 404) return undefined;
      throw error;
    });
  }

  async list<T = AnyObject>(
    apiVersion: string,
    kind: string,
    namespace?: string,
    selectors: { labelSelector?: string; fieldSelector?: string } = {},
  ): Promise<T[]> {
    const path = await pathOf(this.access, { apiVersion, kind, metadata: { namespace } });
    return (await send<{ items: T[] }>(this.access, 'GET', path, { query: { ...selectors } })).object.items;
  }

  async create<T = AnyObject>(object: AnyObject, options: Options = {}): Promise<Answer<T>> {
    const { apiVersion, kind, metadata } = object;
    const path = await pathOf(this.access, { apiVersion, kind, metadata: { namespace: metadata.namespace } });
    return send<T>(this.access, 'POST', path, { body: object, query: query(options), headers: options.headers });
  }

  /** Server-side apply. */
  async apply<T extends AnyObject = AnyObject>(
    object: AnyObject,
    options: { manager?: string; force?: boolean; subresource?: string; dryRun?: boolean } = {},
  ): Promise<Answer<T>> {
    return applyObject<T>(this.access, object, { manager: 'kubectl', ...options });
  }

  /** `kubectl apply` without --server-side. */
  async clientSideApply<T = AnyObject>(manifest: AnyObject): Promise<Answer<T>> {
    const fieldManager = 'kubectl-client-side-apply';
    const live = await this.find(manifest as ObjectRef);
    const wanted = withLastApplied(manifest);
    if (!live) return this.create<T>(wanted, { fieldManager });
    return this.mergePatch<T>(manifest as ObjectRef, mergePatchForApply(live, wanted), { fieldManager });
  }

  async mergePatch<T = AnyObject>(ref: ObjectRef, patch: unknown, options: Options = {}): Promise<Answer<T>> {
    return this.#patch<T>(ref, 'merge-patch', patch, options);
  }

  async jsonPatch<T = AnyObject>(ref: ObjectRef, patch: unknown[], options: Options = {}): Promise<Answer<T>> {
    return this.#patch<T>(ref, 'json-patch', patch, options);
  }

  async #patch<T>(ref: ObjectRef, type: string, patch: unknown, options: Options): Promise<Answer<T>> {
    return send<T>(this.access, 'PATCH', await pathOf(this.access, ref, options.subresource), {
      body: patch,
      contentType: `application/${type}+json`,
      query: query({ fieldManager: 'kubectl-patch', ...options }),
      headers: options.headers,
    });
  }

  async replace<T = AnyObject>(object: AnyObject, options: Options = {}): Promise<Answer<T>> {
    const path = await pathOf(this.access, object as ObjectRef, options.subresource);
    return send<T>(this.access, 'PUT', path, { body: object, query: query(options), headers: options.headers });
  }

  /** PUT of the changed live object, repeated on a conflict. */
  async update<T extends AnyObject = AnyObject>(
    ref: ObjectRef,
    change: (object: T) => void,
    options: Options = {},
  ): Promise<Answer<T>> {
    for (let attempt = 1; ; attempt++) {
      const object = await this.get<T>(ref);
      change(object);
      try {
        return await this.replace<T>(object, options);
      } catch (error) {
        const conflict = error instanceof ApiError && error.reason === 'Conflict';
        if (!conflict || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async patchStatus<T = AnyObject>(ref: ObjectRef, status: unknown, options: Options = {}): Promise<Answer<T>> {
    return this.mergePatch<T>(ref, { status }, { ...options, subresource: 'status' });
  }

  async remove(
    ref: ObjectRef,
    options: { propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'; dryRun?: boolean } = {},
  ): Promise<Answer> {
    const { propagationPolicy = 'Background' } = options;
    return send(this.access, 'DELETE', await pathOf(this.access, ref), {
      body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy },
      query: query(options),
    });
  }

  /** Deletes all of a kind in a namespace, in one request. */
  async removeAll(apiVersion: string, kind: string, namespace: string): Promise<Answer> {
    return send(this.access, 'DELETE', await pathOf(this.access, { apiVersion, kind, metadata: { namespace } }));
  }
}
