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

/** The most characters of a message: Flux quotes the output of builds and of the API server. */
const MAX_MESSAGE_CHARACTERS = 1000;

/** The reason of a wait for another object (`spec.dependsOn`), which Flux reports like a failure. */
const WAIT_REASON = 'DependencyNotReady';

/** The failure of the current spec; undefined for a suspended object, which Flux does not reconcile. */
export function fluxFailure(object: FluxObject): FluxFailure | undefined {
  return isOfOlderSpec(object) ? undefined : reportedFailure(object);
}

/** The failure of the spec before its last change, while Flux has not tried the new one. */
export function earlierFailure(object: FluxObject): FluxFailure | undefined {
  return isOfOlderSpec(object) ? reportedFailure(object) : undefined;
}

function reportedFailure({ spec, status }: FluxObject): FluxFailure | undefined {
  const ready = findCondition(status?.conditions, READY);
  if (spec?.suspend === true || ready?.status !== 'False' || ready.reason === WAIT_REASON) return undefined;
  const { reason, message, lastTransitionTime } = ready;
  const text = oneLine(message ?? '');
  return {
    reason: oneLine(reason ?? ''),
    message: text.length > MAX_MESSAGE_CHARACTERS ? `${text.slice(0, MAX_MESSAGE_CHARACTERS)}…` : text,
    ...(lastTransitionTime && { since: lastTransitionTime }),
  };
}

/**
 * Whether the condition Ready is for an older spec. `status.observedGeneration` doesn't show that: after a failure Flux
 * leaves it unchanged.
 */
function isOfOlderSpec({ metadata, status }: FluxObject): boolean {
  const { observedGeneration = Number.POSITIVE_INFINITY } = findCondition(status?.conditions, READY) ?? {};
  return observedGeneration < (metadata.generation ?? 0);
}
