/** Parses requests: path, selectors, and the object that results from the body and the stored object. */
import jsonpatch from 'jsonpatch';
import { isMap } from '../../../core/kube/json.ts';
import type { ConnectionRequest } from '../../client/kubeconfig.ts';
import type { AnyObject } from '../../client/send.ts';
import { Refusal } from './admission.ts';
import { type Kind, kindAt } from './kinds.ts';
import { applied } from './managedFields.ts';

export interface Target {
  kind: Kind;
  namespace: string;
  /** Name of the object; empty for a collection. */
  name: string;
  subresource: string | undefined;
  query: URLSearchParams;
}

/** The resource or object of the path; undefined for discovery. @throws Refusal for a resource that isn't served. */
export function targetOf(path: string): Target | undefined {
  const url = new URL(path, 'http://sim');
  const parts = url.pathname.split('/').slice(1).map(decodeURIComponent);
  const rest = parts[0] === 'api' ? parts.slice(2) : parts.slice(3);
  const group = parts[0] === 'api' ? '' : (parts[1] ?? '');
  if (rest.length === 0) return undefined;
  const isWithin = rest[0] === 'namespaces' && rest.length > 2;
  const [resource = '', name = '', subresource] = isWithin ? rest.slice(2) : rest;
  const kind = kindAt(group, resource);
  if (!kind) throw new Refusal(404, 'NotFound', `the server could not find the requested resource (${path})`);
  return { kind, namespace: isWithin ? rest[1]! : '', name, subresource, query: url.searchParams };
}

export function bodyOf({ body = {} }: ConnectionRequest): AnyObject {
  return typeof body === 'string' ? JSON.parse(body) : (body as AnyObject);
}

/** The object to store in place of `old`, by the request. @throws Refusal */
export function requestedObject(request: ConnectionRequest, old: AnyObject | undefined, manager: string): AnyObject {
  const body: any = bodyOf(request);
  if (request.method !== 'PATCH') return body;
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('application/apply-patch')) return applied(body, old, manager);
  if (!old) throw new Refusal(404, 'NotFound', 'not found');
  if (type.startsWith('application/json-patch')) {
    try {
      return jsonpatch.apply_patch(old, body);
    } catch (error) {
      throw new Refusal(422, 'Invalid', (error as Error).message);
    }
  }
  return mergePatched(old, body) as AnyObject;
}

/** The target after a JSON merge patch (RFC 7386). */
export function mergePatched(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const result: Record<string, unknown> = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatched(result[key], value);
  }
  return result;
}
