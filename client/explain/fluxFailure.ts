/** The failure that Flux reports on one of its objects: a build, an apply, a health check, a Helm upgrade. */
import { READY } from '../../api/conditions.ts';
import type { FluxObject } from '../../api/flux.ts';
import { findCondition } from '../../core/kube/conditions.ts';
import { oneLine } from '../../core/text/oneLine.ts';

interface FluxFailure {
  reason: string;
  message: string;
  since?: string;
}

/** Limit for messages: Flux quotes the output of builds and of the API server. */
const MAX_MESSAGE = 1000;

/** A wait for another object (`spec.dependsOn`), which Flux reports in the same way. */
const WAITS = 'DependencyNotReady';

/** The failure of the current spec; undefined for a suspended object, which Flux does not reconcile. */
export function fluxFailure(object: FluxObject): FluxFailure | undefined {
  return isOlder(object) ? undefined : reportedFailure(object);
}

/** The failure of the spec before its last change: Flux has not tried the new one yet. */
export function earlierFailure(object: FluxObject): FluxFailure | undefined {
  return isOlder(object) ? reportedFailure(object) : undefined;
}

function reportedFailure({ spec, status }: FluxObject): FluxFailure | undefined {
  const ready = findCondition(status?.conditions, READY);
  if (spec?.suspend === true || ready?.status !== 'False' || ready.reason === WAITS) return undefined;
  const { reason, message, lastTransitionTime } = ready;
  const text = oneLine(message ?? '');
  return {
    reason: oneLine(reason ?? ''),
    message: text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text,
    ...(lastTransitionTime && { since: lastTransitionTime }),
  };
}

/**
 * Whether the condition is for an older spec. Flux keeps `status.observedGeneration` back after a failure, so only
 * the condition shows it.
 */
function isOlder({ metadata, status }: FluxObject): boolean {
  const { observedGeneration = Number.POSITIVE_INFINITY } = findCondition(status?.conditions, READY) ?? {};
  return observedGeneration < (metadata.generation ?? 0);
}
