/** Sequences of what Flux's controllers write, and the health between two writes. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { FluxObject, Kustomization } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { firstFailuresOf, type HealthStatus, healthyUntil, statusAfter } from '../../../core/health/healthStatus.ts';
import { ownHealth, verdictWith } from '../../../core/health/kustomization.ts';
import { objectHealths } from '../../../core/health/objects/resources.ts';
import { kubeObject, objectOf } from '../../support/objects.ts';
import { at, good, healthContext, ms } from './kustomizationFixture.ts';

interface Step {
  at: string;
  /** Status and reason. */
  ready?: string;
  released?: string;
  tested?: string;
  /** The reason of Stalled. */
  stalled?: string;
  reconciling?: true;
  observed?: number;
  attempted?: string;
  config?: string;
  applied?: string;
  history?: string[];
  /** The last change of the spec. */
  changed?: string;
  source?: string;
  /** The time of the evaluation, if it is later. */
  evaluated?: string;
  health: string;
  error?: string;
  since?: string;
  steady?: string;
}

interface Sequence {
  name: string;
  /** Whether the spec has the deployed version; true by default. */
  inSpec?: boolean;
  /** Whether another Rollout sets the version of the source, an OCIRepository. */
  sourceIsSet?: boolean;
  /** The spec of the HelmRelease. */
  spec?: Record<string, unknown>;
  steps: Step[];
}

const SEQUENCES = parse(readFileSync(new URL('fluxSequences.yaml', import.meta.url), 'utf8')) as Record<
  string,
  Sequence[]
>;

/** The conditions after a write: the time of one stays if it is written as it was. */
function conditionsAfter(before: any[], step: Step): any[] {
  const written = [
    step.ready && ['Ready', step.ready],
    step.released && ['Released', step.released],
    step.tested && ['TestSuccess', step.tested],
    step.stalled && ['Stalled', `True ${step.stalled}`],
    step.reconciling && ['Reconciling', 'True Progressing'],
  ].filter((each) => typeof each === 'object');
  const conditions = written.map(([type, text]) => {
    const [status, reason] = text!.split(' ');
    return { type, status, reason, message: 'because', observedGeneration: 2, lastTransitionTime: at(step.at) };
  });
  return [...before.filter(({ type }) => !conditions.some((each) => each.type === type)), ...conditions];
}

const duration = (began: string, ended: string) => `${(ms(ended) - ms(began)) / 1000}s`;
const attemptOf = (text: string) => {
  const [lastReconciledStatus, began = '', ended = '', revision] = text.split(' ');
  const [firstReconciled, lastReconciled] = [at(ended), at(ended)];
  const lastReconciledDuration = duration(began, ended);
  return { firstReconciled, lastReconciled, lastReconciledDuration, lastReconciledStatus, metadata: { revision } };
};
const releaseOf = (text: string) => {
  const [status, began = '', chartVersion, configDigest, phase] = text.split(' ');
  return { status, lastDeployed: at(began), chartVersion, configDigest, testHooks: { test: { phase } } };
};

function sourceAfter({ sourceIsSet }: Sequence, { source }: Step): FluxObject {
  const kind = sourceIsSet ? 'OCIRepository' : 'GitRepository';
  const annotations = sourceIsSet ? { 'rollout.kuberik.com/deployed': 'lib=1/2.0.0/u2' } : {};
  const status = { artifact: { revision: source } };
  return kubeObject('source.toolkit.fluxcd.io/v1', kind, 'demo/web', {
    metadata: { annotations },
    status,
  }) as FluxObject;
}

/** The object after all writes up to this one. */
function objectAfter(
  kind: 'HelmRelease' | 'Kustomization',
  { inSpec = true, sourceIsSet, spec = {} }: Sequence,
  steps: Step[],
): KubeObject<any, any> {
  const all = Object.assign({}, ...steps) as Step;
  const isHelm = kind === 'HelmRelease';
  const annotations = inSpec && !isHelm ? { 'rollout.kuberik.com/deployed': 'web=1/1.1.0/u1' } : {};
  const managedFields = [{ operation: 'Update', time: at(all.changed ?? '12:00:00') }];
  return objectOf(kind, 'demo/web', {
    metadata: { generation: 2, annotations, managedFields },
    spec: isHelm ? spec : { sourceRef: { kind: sourceIsSet ? 'OCIRepository' : 'GitRepository', name: 'web' } },
    status: {
      observedGeneration: all.observed ?? 1,
      conditions: steps.reduce(conditionsAfter, []),
      lastAttemptedRevision: all.attempted,
      lastAttemptedConfigDigest: all.config,
      lastAttemptedGeneration: isHelm ? 2 : undefined,
      lastAppliedRevision: all.applied,
      inventory: isHelm ? undefined : { entries: [{ id: 'demo_web_apps_Deployment', v: 'v1' }] },
      history: all.history?.map((text) => (isHelm ? releaseOf(text) : attemptOf(text))),
    },
  } as never);
}

/** The Kustomization that has applied the object. */
const APPLIER = objectOf('Kustomization', 'demo/all', {
  metadata: { generation: 1 },
  status: {
    observedGeneration: 1,
    conditions: [{ type: 'Ready', status: 'True', observedGeneration: 1, lastTransitionTime: at('11:00:00') }],
    inventory: { entries: [{ id: 'demo_web_x_Y', v: 'v1' }] },
  },
} as never);

function evaluate(
  object: KubeObject<any, any>,
  source: FluxObject | undefined,
  step: Step,
  before: HealthStatus,
): HealthStatus {
  const now = ms(step.evaluated ?? step.at);
  const until = healthyUntil(before, now);
  const context = healthContext({
    now,
    cutoff: ms('12:00:00'),
    healthyUntil: until,
    firstFailures: firstFailuresOf(before),
  });
  const kustomization = (source ? object : APPLIER) as Kustomization;
  const own = ownHealth({ kustomization, source, rollouts: [] }, context);
  if ('health' in own) return statusAfter(before, own, now);
  const { apiVersion, kind } = object;
  const seen = source ? good : { apiVersion, kind, namespace: 'demo', name: 'web', object };
  const observed = own.inventory.resources.length > 0 ? [seen] : [];
  return statusAfter(
    before,
    verdictWith(objectHealths(observed, { applied: own.applied, related: [] }, context), own, context),
    now,
  );
}

describe.each(Object.entries(SEQUENCES))('%s', (title, sequences) => {
  it.each(sequences)('$name', (sequence) => {
    const kind = title === 'helm-controller' ? 'HelmRelease' : 'Kustomization';
    let status: HealthStatus = { status: 'Pending', lastChangeTime: at('12:00:00') };
    for (const [i, { at: time }] of sequence.steps.entries()) {
      const steps = sequence.steps.slice(0, i + 1);
      const step = Object.assign({}, ...steps, sequence.steps[i], { evaluated: sequence.steps[i]!.evaluated }) as Step;
      const source = title === 'kustomize-controller' ? sourceAfter(sequence, step) : undefined;
      status = evaluate(objectAfter(kind, sequence, steps), source, step, status);
      const { health, error, since, steady } = sequence.steps[i]!;
      expect({ time, health: status.status, message: status.message }).toMatchObject({ time, health });
      if (error) expect({ time, error: status.lastErrorTime }).toEqual({ time, error: at(error) });
      if (since) expect({ time, since: status.lastChangeTime }).toEqual({ time, since: at(since) });
      if (steady) expect(status.steadySince ?? status.lastChangeTime).toBe(at(steady));
    }
  });
});
