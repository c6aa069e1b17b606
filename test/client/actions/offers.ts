/** Rollouts, Gates and Flux objects for tests, and the actions that are offered for each. */
import type { FluxBinding, Rollout } from '../../../api/types.ts';
import type { Action } from '../../../client/actions/action.ts';
import { fluxActions } from '../../../client/actions/gateActions.ts';
import { rolloutActions } from '../../../client/actions/rolloutActions.ts';
import { objectRef } from '../../../client/explain/application.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { boundLabel } from '../../../core/binding/bindingSpec.ts';
import { LIMIT_OF_GATES, type Limit } from '../../../core/gate/closedGates.ts';
import type { GateResult } from '../../../core/gate/evaluateGates.ts';
import { objectOf } from '../../support/objects.ts';

export const NOW = Date.parse('2026-11-22T08:00:00Z');
export const at = { namespace: 'shop', name: 'app' };

export const entry = (tag: string, id: number, bakeStatus: string) => ({
  id,
  version: { tag },
  timestamp: '2026-11-22T07:00:00Z',
  bakeStatus,
});
export const RAN = [entry('1.0.0', 2, 'Succeeded'), entry('0.9.0', 1, 'Succeeded')];
export const condition = (type: string, reason: string, message = '') => ({
  type,
  status: 'True',
  reason,
  message,
  lastTransitionTime: '2026-11-22T07:00:00Z',
});
export const gate = (name: string, spec: object = {}, annotations: object = {}) =>
  objectOf('Gate', {
    metadata: { namespace: 'shop', name, annotations },
    spec: { default: 'closed', ...spec },
  } as never);
export const rolloutGate = (name: string, spec: object, labels: object = {}) =>
  objectOf('RolloutGate', {
    metadata: { namespace: 'shop', name, labels },
    spec: { rolloutRef: { name: 'app' }, ...spec },
  } as never);
export const SCHEDULE = {
  'gate.kuberik.com/schedule-kind': 'RolloutSchedule',
  'gate.kuberik.com/schedule-name': 'nights',
};
/** The FluxBinding of an object that requires too many Gates. */
export const beyondLimit = objectOf('FluxBinding', {
  metadata: { namespace: 'shop', name: 'kustomization-web', labels: { [boundLabel('app')]: '' } },
  spec: {
    target: { apiVersion: 'v1', kind: 'Kustomization', name: 'web' },
    gates: [{ namespace: '', gate: LIMIT_OF_GATES }],
  },
} as never) as FluxBinding;
export const CLOSE_REQUEST = { 'close.gate.fluxcd.io/requestedAt': '2026-11-22T07:30:00Z' };

export interface Case {
  spec?: object;
  status?: object;
  annotations?: object;
  gates?: ReturnType<typeof gate>[];
  rolloutGates?: ReturnType<typeof rolloutGate>[];
  bindings?: FluxBinding[];
}

export const waits = (status: object = {}) => ({ pendingVersion: '1.1.0', ...status });
/** A blocker of the version that waits. */
export const blocker = (type: string, reason: string, object?: { kind: string; name: string }, more: object = {}) => ({
  type,
  effect: 'Blocks',
  reason,
  version: '1.1.0',
  ...(object && { object: { namespace: 'shop', ...object } }),
  ...more,
});
export const blockedBy = (name: string, more: object = {}) => [
  blocker('RolloutGate', 'RolloutGatesBlocking', { kind: 'RolloutGate', name }, more),
];
export const list = { name: 'list', allowedVersions: ['1.0.0'] };

export function offered({
  spec = {},
  status = {},
  annotations = {},
  gates = [],
  rolloutGates = [],
  bindings = [],
}: Case): Action[] {
  const rollout = objectOf('Rollout', {
    metadata: { ...at, uid: 'u', generation: 3, annotations },
    spec,
    status: { observedGeneration: 3, history: RAN, ...status },
  } as never) as Rollout;
  const around = { ...NO_RELATED, gates, rolloutGates, bindings };
  return rolloutActions(rollout, explainRollout(rollout, around, NOW), around, NOW);
}

export const closedGate = (name: string) => ({
  key: `shop/${name}`,
  ref: { namespace: 'shop', name },
  isOpen: false,
  message: 'closed',
});

/** The actions on a Kustomization with these closed Gates. */
export function behind(
  closed: readonly GateResult[],
  gates: ReturnType<typeof gate>[],
  suspend = true,
  limit?: Limit,
): Action[] {
  const web = { namespace: 'shop', name: 'web' };
  const object = objectOf('Kustomization', { metadata: web, spec: { suspend } } as never);
  return fluxActions(object as never, objectRef('Kustomization', web), { gates: closed, limit }, gates, false);
}

export const said = ({ request: { type, object, version } }: Action) =>
  `${type} ${object.kind === 'Rollout' ? '' : `${object.kind.toLowerCase()}/${object.name} `}${version ?? ''}`.trim();
