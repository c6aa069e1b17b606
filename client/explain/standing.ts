/** Where an object stands with a Gate that was just closed or opened: from the object itself, which says so once it was looked at. */
import { GATE_STATE, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { parseState } from '../../core/admission/suspend/stateAnnotation.ts';

/** `moving`: it is not there yet. Held by another Gate, or suspended by hand, is held too. */
export type Standing = 'held' | 'free' | 'moving';

/** `gate`: `namespace/name`. `opened`: what it is now. */
export function standingOf(object: KubeObject<any, any>, gate: string, opened: boolean): Standing {
  return object.kind === KINDS.Rollout.kind
    ? rolloutStanding(object as Rollout, gate, opened)
    : fluxStanding(object as FluxObject, gate, opened);
}

function rolloutStanding({ status }: Rollout, gate: string, opened: boolean): Standing {
  const closed = (status?.gates ?? []).filter(({ kind, passing }) => kind === KINDS.Gate.kind && passing === false);
  const isNamed = closed.some(({ name }) => name === gate);
  if (!opened) return isNamed ? 'held' : 'moving';
  if (isNamed) return 'moving';
  return closed.length > 0 ? 'held' : 'free';
}

function fluxStanding({ metadata, spec }: FluxObject, gate: string, opened: boolean): Standing {
  const state = parseState(metadata.annotations?.[GATE_STATE]);
  const isSuspended = spec?.suspend === true;
  // A bypass names the closing that it is for as well.
  const gates = state && 'gates' in state ? state.gates.map((each) => each.replace(/@.*/, '')) : [];
  const isNamed = gates.includes(gate);
  if (!opened) {
    if (isNamed && state?.is === 'closed') return isSuspended ? 'held' : 'moving';
    return isNamed ? 'free' : 'moving';
  }
  if (!isSuspended) return 'free';
  if (state?.is === 'closed') return isNamed ? 'moving' : 'held';
  return metadata.annotations?.[SUSPENDED] === undefined ? 'held' : 'moving';
}
