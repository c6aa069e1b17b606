/** Consent to be watched by HealthChecks of other namespaces: an annotation on the object, or on its Namespace. */
import { WATCHED_FROM } from '../../api/annotations.ts';
import type { KubeObject } from '../../api/kubernetes.ts';

/** Whether the object's annotation lets this namespace watch it; false if the object does not exist. */
export function mayBeWatched(object: Pick<KubeObject, 'metadata'> | undefined, from: string): boolean {
  const namespaces = (object?.metadata.annotations?.[WATCHED_FROM] ?? '').split(',');
  return namespaces.some((name) => ['*', from].includes(name.trim()));
}

/** Whether the object's annotation lets at least one other namespace watch it. */
export function mayBeWatchedFromElsewhere(object: Pick<KubeObject, 'metadata'> | undefined): boolean {
  return Boolean(object?.metadata.annotations?.[WATCHED_FROM]?.trim());
}

/** The end of a sentence about an object that the namespace may not watch yet: how to allow it. */
export function howToAllow(from: string): string {
  return `to allow it, set the annotation ${WATCHED_FROM}: ${from} on the object or on its namespace`;
}
