/** A Kustomization with its OCIRepository and applied objects, with a test's changes. */
import { expect } from 'vitest';
import type { FluxObject, Kustomization } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Rollout } from '../../../api/types.ts';
import type { Awaited } from '../../../core/health/healthStatus.ts';
import { ownHealth, verdictWith } from '../../../core/health/kustomization.ts';
import type { FirstFailures, HealthContext } from '../../../core/health/objects/healthContext.ts';
import { type ObservedResource, objectHealths } from '../../../core/health/objects/resources.ts';
import { wasDeployedBefore } from '../../../core/health/revision.ts';
import { kubeObject, objectOf } from '../../support/objects.ts';

export const at = (time: string) => `2026-01-02T${time}Z`;
export const ms = (time: string) => Date.parse(at(time));
const NOW = ms('12:00:00');
const CUTOFF = ms('11:50:00');
export const NEW = '1.1.0@sha256:bbb';
export const OLD = '1.0.0@sha256:aaa';

export interface Setup {
  /** status.conditions[type=Ready]. */
  ready?: {
    status: string;
    reason?: string;
    message?: string;
    observedGeneration?: number;
    lastTransitionTime?: string;
  };
  /** The newest entry of status.history, of which Flux 2.7 has five. */
  attempt?: {
    firstReconciled?: string;
    lastReconciled: string;
    lastReconciledDuration: string;
    lastReconciledStatus: string;
    metadata?: { revision: string };
  };
  reconcilingSince?: string;
  /** The last change of the spec. */
  changed?: string;
  observed?: number;
  /** null: nothing yet. */
  applied?: string | null;
  attempted?: string;
  entries?: unknown;
  spec?: object;
  annotations?: Record<string, string>;
  stalled?: string;
}

function kustomization(setup: Setup = {}): Kustomization {
  const { ready = { status: 'True' }, observed = 2, applied = NEW, attempted = applied, spec, annotations } = setup;
  const condition = (type: string, status: string, rest: object) => ({
    type,
    status,
    lastTransitionTime: at('11:55:00'),
    ...rest,
  });
  return objectOf('Kustomization', {
    metadata: {
      name: 'web',
      namespace: 'demo',
      generation: 2,
      ...(annotations && { annotations }),
      ...(setup.changed && { managedFields: [{ operation: 'Update', time: at(setup.changed) }] }),
    },
    spec: { sourceRef: { kind: 'OCIRepository', name: 'web' }, ...spec },
    status: {
      observedGeneration: observed,
      lastAppliedRevision: applied ?? undefined,
      lastAttemptedRevision: attempted ?? undefined,
      ...(setup.attempt && { history: [setup.attempt] }),
      inventory: { entries: (setup.entries ?? [{ id: 'demo_web_apps_Deployment', v: 'v1' }]) as never },
      conditions: [
        condition('Ready', ready.status, { reason: '', message: '', observedGeneration: 2, ...ready }),
        ...(setup.reconcilingSince
          ? [
              condition('Reconciling', 'True', {
                reason: 'Progressing',
                message: 'at it',
                lastTransitionTime: at(setup.reconcilingSince),
              }),
            ]
          : []),
        ...(setup.stalled ? [condition('Stalled', 'True', { reason: 'Bad', message: setup.stalled })] : []),
      ] as never,
    },
  });
}

export function source(
  fields: {
    tag?: string;
    ref?: object;
    artifact?: string | null;
    observed?: number;
    suspend?: true;
    annotations?: Record<string, string>;
  } = {},
): FluxObject {
  const { tag = '1.1.0', artifact = NEW, observed = 5, ref, suspend, annotations } = fields;
  return objectOf('OCIRepository', {
    metadata: { name: 'web', namespace: 'demo', generation: 5, ...(annotations && { annotations }) },
    spec: { ref: ref ?? { tag }, suspend },
    status: { observedGeneration: observed, ...(artifact && { artifact: { revision: artifact } }) },
  });
}

const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web' };

export function seen(fields?: object): ObservedResource {
  if (!fields) return DEPLOYMENT;
  const object: KubeObject = kubeObject('apps/v1', 'Deployment', 'web', { metadata: { generation: 1 }, ...fields });
  return { ...DEPLOYMENT, object };
}

const one = { replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1, observedGeneration: 1 };
export const good = seen({ status: { ...one, conditions: [{ type: 'Available', status: 'True' }] } });
export const starting = seen({ status: { ...one, availableReplicas: 0 } });
export const failedAt = (time?: string) =>
  seen({
    status: {
      ...one,
      conditions: [
        {
          type: 'Progressing',
          status: 'False',
          reason: 'ProgressDeadlineExceeded',
          ...(time && { lastTransitionTime: at(time) }),
        },
      ],
    },
  });
export const unreadable: ObservedResource = { ...DEPLOYMENT, error: 'forbidden' };

export interface Case {
  name: string;
  kustomization?: Setup;
  source?: FluxObject | null;
  rollouts?: Rollout[];
  observed?: ObservedResource[];
  cutoff?: number | null;
  /** When this deployment was last Healthy. */
  healthyUntil?: number;
  firstFailures?: FirstFailures;
  gracePeriod?: number;
  expected: {
    health: string;
    message: string | RegExp;
    failedAt?: number;
    awaits?: Awaited;
    isSteady?: boolean;
  };
}

export function evaluated({
  kustomization: setup,
  source: from = source(),
  rollouts = [],
  observed = [good],
  cutoff = CUTOFF,
  healthyUntil,
  firstFailures = new Map(),
  gracePeriod = 60_000,
}: Omit<Case, 'name' | 'expected'>) {
  const read = { kustomization: kustomization(setup), source: from ?? undefined, rollouts };
  const context = healthContext({
    cutoff: cutoff ?? undefined,
    wasDeployedBefore: wasDeployedBefore(read),
    healthyUntil,
    firstFailures,
    gracePeriod,
  });
  const own = ownHealth(read, context);
  if ('health' in own) return { own: undefined, result: own };
  const seen = own.inventory.resources.length > 0 ? observed : [];
  const objects = objectHealths(seen, { applied: own.applied, related: from ? [from] : [] }, context);
  return { own, result: verdictWith(objects, own, context) };
}

/** Class kustomization with its defaults, for a deployment at the cutoff. */
export function healthContext(fields: Partial<HealthContext> = {}): HealthContext {
  return {
    now: NOW,
    cutoff: CUTOFF,
    wasDeployedBefore: false,
    healthyUntil: undefined,
    firstFailures: new Map(),
    seenHealthy: fields.healthyUntil === undefined ? undefined : fields.healthyUntil - 60_000,
    gracePeriod: 60_000,
    ignoresMissing: false,
    ...fields,
  };
}

/** The message about the objects. */
export const waits = (message: string | RegExp, rest: Partial<Case['expected']> = {}) => {
  return { health: 'Pending', message, ...rest };
};
/** The message about the Kustomization itself, with healthy objects. */
export const pending = (message: string, awaits?: Awaited) => ({
  health: 'Pending',
  message: `Kustomization pending: ${message}`,
  awaits,
});
/** Until Flux starts, which triggers a sync. */
export const notBegun = (reason: string) => pending(reason, 'event');
export const HEALTHY = { health: 'Healthy', message: 'Kustomization and all managed resources are healthy' };
export const unhealthy = (message: string | RegExp, time?: string) => ({
  health: 'Unhealthy',
  message,
  ...(time && { failedAt: ms(time) }),
});

/** A table row: changes to the Kustomization and its objects, and the expected health. */
export const on = (name: string, expected: Case['expected'], given: Omit<Case, 'name' | 'expected'> = {}): Case => {
  return { name, ...given, expected };
};

/** The expected result of a row, without failed attempts. Most rows leave `isSteady` open. */
export function expectVerdict(row: Case): void {
  const { message, ...rest } = row.expected;
  const { firstFailures: _, ...result } = evaluated(row).result;
  const isOpen = result.health === 'Pending' && rest.isSteady === undefined;
  expect({ isSteady: false, ...result, ...(isOpen && { isSteady: false }) }).toEqual({
    isSteady: false,
    ...rest,
    message: expect.any(String),
  });
  if (typeof message === 'string') expect(result.message).toBe(message);
  else expect(result.message).toMatch(message);
}

export const failing = (reason: string, extra: Setup = {}): Setup => ({
  ready: { status: 'False', reason, message: 'no such file' },
  reconcilingSince: '11:52:00',
  applied: OLD,
  attempted: NEW,
  observed: 1,
  ...extra,
});
