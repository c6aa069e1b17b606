/** Whether another namespace may watch the health of an object: by an annotation on the object, or on its Namespace. */
import { WATCHED_FROM } from '../../api/annotations.ts';
import type { KubeObject } from '../../api/kubernetes.ts';

/**
 * Whether the object's annotation lets this namespace watch it. `object`: undefined if it does not
 * exist, which allows nothing.
 */
export function mayBeWatched(object: Pick<KubeObject, 'metadata'> | undefined, from: string): boolean {
  const namespaces = (object?.metadata.annotations?.[WATCHED_FROM] ?? '').split(',');
  return namespaces.some((name) => ['*', from].includes(name.trim()));
}

/** Whether the object's annotation lets any other namespace watch it. */
export function mayBeWatchedBySomebody(object: Pick<KubeObject, 'metadata'> | undefined): boolean {
  return Boolean(object?.metadata.annotations?.[WATCHED_FROM]?.trim());
}

/** How to allow the watching, for the end of a sentence. */
export function howToAllow(from: string): string {
  return `the annotation ${WATCHED_FROM}: ${from} on it or on its namespace allows it`;
}
