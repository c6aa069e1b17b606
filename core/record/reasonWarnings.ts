/** Warnings for reasons that are longer than what is stored of them. */
import {
  APPROVE_FOR_REASON,
  APPROVE_REASON,
  BYPASS_REASON,
  CLOSE_REASON,
  OPEN_REASON,
  REASON,
} from '../../api/annotations.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import { LIMITS } from '../limits.ts';

/** Characters that are stored of the reason in each annotation. */
const STORED_CHARACTERS = {
  [APPROVE_FOR_REASON]: LIMITS.reason,
  [APPROVE_REASON]: LIMITS.reason,
  [BYPASS_REASON]: LIMITS.reason,
  [REASON]: LIMITS.reason,
  [OPEN_REASON]: LIMITS.gateReason,
  [CLOSE_REASON]: LIMITS.gateReason,
};

type Annotated = Pick<KubeObject, 'metadata'> | null | undefined;

/** A Warning for each reason in this write of a Rollout, RolloutGate or Gate that is stored shortened. */
export function reasonWarnings(object: Annotated, before: Annotated): string[] {
  return Object.entries(STORED_CHARACTERS).flatMap(([key, most]) => {
    const reason = object?.metadata.annotations?.[key];
    const isNew = reason !== before?.metadata.annotations?.[key];
    return reason !== undefined && isNew && reason.length > most
      ? [`${key} has ${reason.length} characters: the first ${most} are stored`]
      : [];
  });
}
