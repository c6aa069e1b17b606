import type { KubeObject } from '../../api/kubernetes.ts';

/** As the API server writes it. `0354` would be read as 354 there, and `0` as "whatever is stored". */
const CANONICAL = /^[1-9]\d*$/;

/**
 * Whether the API server will refuse the write with a 409, since its resourceVersion is not the stored one. It asks the
 * webhooks first, so a decorator that writes what it has in its cache would look like somebody undoing the last change: a
 * denial would count as a failure, the conflict is retried.
 */
export function isStale(object: KubeObject<any, any>, oldObject: KubeObject<any, any> | undefined): boolean {
  const version = object.metadata.resourceVersion ?? '';
  const stored = oldObject?.metadata.resourceVersion ?? '';
  return CANONICAL.test(version) && CANONICAL.test(stored) && version !== stored;
}
