/**
 * DecoratorController `rollout-requests`: takes used one-shot annotations off a Rollout, exactly those whose request is
 * recorded as handled, and marks Rollouts whose HealthChecks may be in other namespaces.
 */
import { WATCHES_NAMESPACES_LABEL } from '../api/annotations.ts';
import type { DecoratorResponse } from '../api/metacontroller.ts';
import type { Rollout } from '../api/types.ts';
import { usedAnnotations } from '../core/rollout/request.ts';
import type { DecoratorHook } from './hook.ts';

/** A write of a decorator that meets a conflict is dropped without a word: ask again until there is nothing to write. */
const RETRY_S = 1;

export const rolloutRequestsHook: DecoratorHook = {
  async sync({ object }) {
    const rollout = object as unknown as Rollout;
    if (rollout.metadata.deletionTimestamp) return { attachments: [] };
    const used = usedAnnotations(rollout);
    const watches = rollout.spec?.healthCheckSelector?.namespaceSelector ? 'true' : undefined;
    const relabel = rollout.metadata.labels?.[WATCHES_NAMESPACES_LABEL] !== watches;
    const response: DecoratorResponse = { attachments: [] };
    if (used.length > 0) response.annotations = Object.fromEntries(used.map((annotation) => [annotation, null]));
    if (relabel) response.labels = { [WATCHES_NAMESPACES_LABEL]: watches ?? null };
    if (used.length > 0 || relabel) response.resyncAfterSeconds = RETRY_S;
    return response;
  },
};
