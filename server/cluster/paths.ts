/** REST paths of Kubernetes resources. */
import type { ResourceRef } from '../../api/ports.ts';

/** The path at which the API server lists the resources of an API version. */
export function versionPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

export function resourcePath(
  { apiVersion, resource, namespace }: Omit<ResourceRef, 'namespace'> & { namespace?: string | undefined },
  name?: string,
  subresource?: string,
): string {
  const parts = [versionPath(apiVersion)];
  if (namespace) parts.push('namespaces', encodeURIComponent(namespace));
  parts.push(resource);
  if (name) parts.push(encodeURIComponent(name));
  if (subresource) parts.push(subresource);
  return parts.join('/');
}

export function withQuery(path: string, query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** Whether the text can be an object's name. In a path, any other text would be an error or mean another resource. */
export function isSegment(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name);
}
