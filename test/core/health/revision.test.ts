import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import { statusAfter } from '../../../core/health/healthStatus.ts';
import { hasNewError } from '../../../core/health/knownHealth.ts';
import type { ObservedResource } from '../../../core/health/objects/resources.ts';
import { healthCheck } from '../../hooks/healthCheck/fixture.ts';
import { kubeObject, objectOf } from '../../support/objects.ts';
import {
  at,
  type Case,
  evaluated,
  expectVerdict,
  failedAt,
  failing,
  HEALTHY,
  ms,
  NEW,
  notBegun,
  OLD,
  on,
  pending,
  source,
  unhealthy,
  unreadable,
  waits,
} from './kustomizationFixture.ts';

const BEHIND = notBegun('Kustomization generation is 2, but latest observed generation is 1');
/** A reconciliation in the history, at the revision. */
const ofRevision = (firstReconciled: string, lastReconciledDuration: string) => ({
  firstReconciled: at(firstReconciled),
  lastReconciled: at(firstReconciled),
  lastReconciledDuration,
  lastReconciledStatus: 'ReconciliationSucceeded',
  metadata: { revision: NEW },
});
/** Flux is applying a new spec on the same artifact. */
const SINCE = { status: 'Unknown', lastTransitionTime: at('11:52:00') };
const NEW_SPEC = { observed: 1, ready: SINCE, reconcilingSince: '11:54:00' };
/** Flux is applying a new revision. Reconciling has the time of its last step. */
const AT_IT = failing('', { ready: SINCE, reconcilingSince: '11:54:00' });
/** Flux has applied it, has failed to prune for the second time, and tries again. */
const NOT_PRUNED = (firstReconciled: string) =>
  failing('PruneFailed', {
    reconcilingSince: '11:55:00',
    attempt: {
      firstReconciled: at(firstReconciled),
      lastReconciled: at('11:55:00'),
      lastReconciledDuration: '30s',
      lastReconciledStatus: 'PruneFailed',
      metadata: { revision: NEW },
    },
  });
/** Flux began at 11:47, three minutes before the deployment. Its conditions have the stored generation (F13). */
/** A Deployment that has failed at 11:53, and whose spec was last changed at this time. */
const changedAt = (time: string): ObservedResource => {
  const { object, ...resource } = failedAt('11:53:00');
  const managedFields = [{ manager: 'kustomize-controller', operation: 'Apply', time: at(time) }];
  return { ...resource, object: { ...object!, metadata: { ...object!.metadata, managedFields } } };
};
const OLD_ATTEMPT = { observed: 1, ready: { status: 'Unknown', lastTransitionTime: at('11:47:00') } };
const healthCheckFailed = (lastReconciledDuration: string, lastReconciled = '11:55:00') => ({
  observed: 1,
  reconcilingSince: '11:47:00',
  ready: { status: 'False', reason: 'HealthCheckFailed', message: 'timeout' },
  attempt: { lastReconciled: at(lastReconciled), lastReconciledDuration, lastReconciledStatus: 'HealthCheckFailed' },
});
/** Flux has no history of failed builds. After one of the spec before the deployment it begins again at once. */
const notBuilt = (failed: string) =>
  failing('BuildFailed', { ready: { status: 'False', reason: 'BuildFailed', lastTransitionTime: at(failed) } });
/** Flux has applied nothing in its last attempt: it waits, for a dependency or its source. */
const notTried = (reason: string) =>
  failing(reason, { ready: { ...SINCE, status: 'False', reason, message: 'not yet' } });
const OLD_FAILURE = pending('the failed attempt began before the deployment');
/** A HelmRelease that was rolled back at 11:53, with a spec from before the deployment; and its chart. */
const rolledBack = (fetched: string): ObservedResource[] => {
  const ready = { type: 'Ready', status: 'False', reason: 'RollbackSucceeded', lastTransitionTime: at('11:53:00') };
  const release = kubeObject('helm.toolkit.fluxcd.io/v2', 'HelmRelease', 'web', {
    metadata: { managedFields: [{ operation: 'Apply', time: at('11:40:00') }] },
    spec: { chartRef: { kind: 'OCIRepository', name: 'chart' } },
    status: { conditions: [ready, { ...ready, type: 'Remediated', status: 'True' }] },
  });
  const artifact = { revision: NEW, lastUpdateTime: at(fetched) };
  const chart = kubeObject('source.toolkit.fluxcd.io/v1', 'OCIRepository', 'chart', { status: { artifact } });
  return [release, chart].map((object) => {
    const { apiVersion, kind, metadata } = object;
    return { apiVersion, kind, namespace: 'demo', name: metadata.name!, object };
  });
};
const OF_BEFORE = waits(/Unhealthy resources of the version before: /);
const failedAtTime = (time: string) => unhealthy(/^Unhealthy resources: /, time);

const CASES: Case[] = [
  on('the Kustomization is not at its generation', BEHIND, {
    kustomization: { observed: 1, ready: { status: 'True', observedGeneration: 1 } },
  }),
  on('only Ready is of an older generation', BEHIND, {
    kustomization: { ready: { status: 'True', observedGeneration: 1 } },
  }),
  on('it is suspended', waits(/observed generation is 1 \(suspended\)$/, { awaits: 'event' }), {
    kustomization: { spec: { suspend: true }, observed: 1, ready: { status: 'True', observedGeneration: 1 } },
  }),
  on('the source has fetched a newer artifact', notBegun(`revision ${NEW} is fetched, ${OLD} is applied`), {
    kustomization: { applied: OLD },
  }),
  on('the source has not seen its new spec', pending('OCIRepository web has not yet fetched generation 5'), {
    source: source({ observed: 4 }),
  }),
  on('the source still has the old tag', pending(`OCIRepository web has ${OLD}, not 1.1.0`), {
    kustomization: { applied: OLD },
    source: source({ artifact: OLD }),
  }),
  on('the source has nothing', pending('OCIRepository web has nothing, not 1.1.0'), {
    source: source({ artifact: null }),
  }),
  on('a tag beside a semver range says nothing', HEALTHY, {
    kustomization: { applied: OLD },
    source: source({ ref: { tag: '9.9.9', semver: '*' }, artifact: OLD }),
  }),
  on(
    'a failure between the deployment and its apply, with Flux not at it yet',
    { ...OF_BEFORE, awaits: 'event' },
    { kustomization: { applied: OLD }, observed: [failedAt('11:40:00')] },
  ),
  on(
    'a failure after the deployment, with Flux not at it yet',
    waits(/^Kustomization pending: .* Unhealthy resources of the version before: demo\/web/, { awaits: 'event' }),
    { kustomization: { applied: OLD }, observed: [failedAt('11:51:00')] },
  ),
  on('beside an object that can’t be read, which may change without an event', waits(/is applied. Errors: /), {
    kustomization: { applied: OLD },
    observed: [unreadable],
  }),
  on('a failure after the deployment, but before Flux began', OF_BEFORE, {
    kustomization: AT_IT,
    observed: [failedAt('11:51:00')],
  }),
  on('a failure while Flux applies it', failedAtTime('11:53:00'), {
    kustomization: AT_IT,
    observed: [failedAt('11:53:00')],
  }),
  on('a failure while Flux applies it, of an object that Flux has not changed yet', OF_BEFORE, {
    kustomization: AT_IT,
    observed: [changedAt('11:40:00')],
  }),
  on('a release that Helm rolls back while Flux applies it, and that Flux has not changed yet', OF_BEFORE, {
    kustomization: AT_IT,
    observed: rolledBack('11:40:00'),
  }),
  on('a release that Helm rolls back while Flux applies it, with a new chart', failedAtTime('11:53:00'), {
    kustomization: AT_IT,
    observed: rolledBack('11:52:30'),
  }),
  on('a failure while Flux applies it, of an object that Flux has changed', failedAtTime('11:53:00'), {
    kustomization: AT_IT,
    observed: [changedAt('11:52:30')],
  }),
  on('a failure after the first attempt has failed, of an object that Flux has not changed yet', OF_BEFORE, {
    kustomization: failing('ReconciliationFailed', {
      ready: { status: 'False', reason: 'ReconciliationFailed', lastTransitionTime: at('11:52:30') },
      attempt: {
        firstReconciled: at('11:52:30'),
        lastReconciled: at('11:52:30'),
        lastReconciledDuration: '30s',
        lastReconciledStatus: 'ReconciliationFailed',
        metadata: { revision: NEW },
      },
    }),
    observed: [changedAt('11:40:00')],
  }),
  on('a failure of an object that Flux has changed in an attempt that it canceled', failedAtTime('11:53:00'), {
    kustomization: failing('', { ready: { status: 'Unknown', lastTransitionTime: at('11:57:00') } }),
    observed: [changedAt('11:50:30')],
  }),
  on('a failure of an unchanged object that was healthy with this version', failedAtTime('11:53:00'), {
    kustomization: AT_IT,
    observed: [changedAt('11:40:00')],
    healthyUntil: ms('11:52:30'),
  }),
  on(
    'a failure of an object that was healthy with this version, before Flux began with another commit',
    failedAtTime('11:51:00'),
    {
      kustomization: AT_IT,
      observed: [failedAt('11:51:00')],
      healthyUntil: ms('11:50:30'),
    },
  ),
  on('a failure of an unchanged object once Flux has applied everything', failedAtTime('11:53:00'), {
    observed: [changedAt('11:40:00')],
  }),
  on('a failure before Flux began with a new spec on the same artifact', OF_BEFORE, {
    kustomization: NEW_SPEC,
    observed: [failedAt('11:51:00')],
  }),
  on(
    'a failure before Flux began with a new spec, after attempts at the spec before it with the same artifact',
    OF_BEFORE,
    {
      kustomization: { ...NEW_SPEC, changed: '11:51:30', attempt: ofRevision('11:50:30', '10s') },
      observed: [failedAt('11:51:00')],
    },
  ),
  on('a failure while Flux applies a new spec on the same artifact', failedAtTime('11:53:00'), {
    kustomization: NEW_SPEC,
    observed: [failedAt('11:53:00')],
  }),
  ...['DependencyNotReady', 'ArtifactFailed'].map((reason) =>
    on(`a failure while Flux waits with ${reason}, and has applied nothing of it`, OF_BEFORE, {
      kustomization: notTried(reason),
      observed: [failedAt('11:53:00')],
    }),
  ),
  on('a failure while Flux waits for a dependency, after its first attempt', failedAtTime('11:53:00'), {
    kustomization: { ...notTried('DependencyNotReady'), attempt: ofRevision('11:51:30', '10s') },
    observed: [failedAt('11:53:00')],
  }),
  on('a wait for a dependency names it', waits(/generation is 1 \(DependencyNotReady: not yet\)$/), {
    kustomization: { ...NEW_SPEC, ...notTried('DependencyNotReady'), applied: NEW },
  }),
  on(
    'Flux is at the spec from before the deployment, whose objects fail',
    { ...OF_BEFORE, awaits: 'event' },
    {
      kustomization: { ...OLD_ATTEMPT, reconcilingSince: '11:47:00' },
      observed: [failedAt('11:53:00')],
    },
  ),
  on(
    'Flux has failed at the spec from before the deployment',
    { ...OLD_FAILURE, awaits: 'event' },
    {
      kustomization: healthCheckFailed('7m30s'),
    },
  ),
  on('Flux began with it, and failed', unhealthy(/HealthCheckFailed/, '11:55:00'), {
    kustomization: healthCheckFailed('4m30s'),
  }),
  on(
    'Flux reports its failure before its history',
    { ...pending('the failed attempt may have begun before the deployment'), awaits: 'event' },
    {
      kustomization: {
        ...healthCheckFailed('10s', '11:46:00'),
        ready: { status: 'False', reason: 'HealthCheckFailed', message: 'timeout', lastTransitionTime: at('11:59:59') },
      },
    },
  ),
  on('a build that has just failed', pending('the failed attempt may have begun before the deployment'), {
    kustomization: notBuilt('11:59:51'),
    cutoff: ms('11:59:00'),
  }),
  on('a build that has failed long after the deployment', unhealthy(/BuildFailed/, '11:59:51'), {
    kustomization: notBuilt('11:59:51'),
    cutoff: ms('11:58:51'),
  }),
  on('a build that failed, and Flux did not begin again', unhealthy(/BuildFailed/, '11:59:50'), {
    kustomization: notBuilt('11:59:50'),
    cutoff: ms('11:59:00'),
  }),
  on('a Flux without history has failed', unhealthy(/HealthCheckFailed/, '11:55:00'), {
    kustomization: { ...healthCheckFailed('7m30s'), attempt: undefined! },
  }),
  on('a failure after the first of several attempts', failedAtTime('11:53:00'), {
    kustomization: NOT_PRUNED('11:52:40'),
    observed: [failedAt('11:53:00')],
  }),
  on('a failure before the first of several attempts', OF_BEFORE, {
    kustomization: NOT_PRUNED('11:53:40'),
    observed: [failedAt('11:53:00')],
  }),
  on('a failure between attempts, where an earlier deployment had the same revision', OF_BEFORE, {
    kustomization: NOT_PRUNED('11:40:00'),
    observed: [failedAt('11:53:00')],
  }),
  on('K17: without a deployment every failure counts', failedAtTime('11:00:00'), {
    kustomization: { applied: OLD },
    observed: [failedAt('11:00:00')],
    cutoff: null,
  }),
];

describe('Q28: health of the old revision', () => {
  it.each(CASES)('$name', expectVerdict);
});

it('a version that fails while its rollback is fetched doesn’t fail the rollback', () => {
  const head = { version: { tag: '1.0.0' }, timestamp: at('11:30:00'), appliedTime: at('11:50:00') };
  const { result } = evaluated({ kustomization: { applied: OLD }, observed: [failedAt('11:40:00')] });
  const status = statusAfter({ status: 'Pending', lastChangeTime: at('11:50:00') }, result, ms('12:00:00'));
  const known = { namespace: 'demo', name: 'hc', status: 'Unhealthy', lastErrorTime: at('11:20:00') };
  expect(hasNewError(healthCheck({ status }), { ...head, knownHealth: [known] })).toBe(false);
});

describe('Q28: a deployment that is rolling out', () => {
  const rollout: Rollout = objectOf('Rollout', 'demo/web', {
    metadata: { uid: 'u1' },
    status: { history: [{ id: 7, version: { tag: '1.1.0' }, timestamp: at('11:50:00') }] },
  });
  const carrying = (deployed: string) => ({ 'rollout.kuberik.com/deployed': deployed });
  const health = (onSource: string | undefined, onKustomization?: string) =>
    evaluated({
      rollouts: [rollout],
      ...(onKustomization && { kustomization: { annotations: carrying(onKustomization) } }),
      source: source(onSource ? { annotations: carrying(onSource) } : {}),
    }).result;

  it('is awaited by its source, and by the Kustomization itself', () => {
    const message = (kind: string) =>
      `Kustomization pending: ${kind} web still has web 1.0.0 (6); web 1.1.0 (7) is rolling out`;
    expect(health('web=6/1.0.0/u1')).toMatchObject(waits(message('OCIRepository')));
    expect(health(undefined, 'web=6/1.0.0/u1')).toMatchObject(waits(message('Kustomization')));
    expect(health('web=7/1.1.0/u1').health).toBe('Healthy');
  });

  it('of a version that ran before explains that OpenKruise has taken the newer one back', () => {
    const kruise = kubeObject('rollouts.kruise.io/v1beta1', 'Rollout', 'demo/web', {
      metadata: { generation: 1 },
      status: { observedGeneration: 1, phase: 'Healthy', conditions: [{ type: 'Succeeded', status: 'False' }] },
    });
    const { apiVersion, kind } = kruise;
    const observed = [{ apiVersion, kind, namespace: 'demo', name: 'web', object: kruise }];
    const healthAfter = (uid: string, ...tags: string[]) => {
      const history = tags.map((tag, index) => ({ id: 7 - index, version: { tag }, timestamp: at('11:50:00') }));
      const deployer = { ...rollout, metadata: { ...rollout.metadata, uid }, status: { history } };
      const annotations = carrying(`web=7/${tags[0]}/u1`);
      return evaluated({ kustomization: { annotations }, rollouts: [deployer], observed }).result.health;
    };
    expect(healthAfter('u1', '1.1.0', '1.0.0')).toBe('Unhealthy');
    expect(healthAfter('u1', '1.0.0', '1.1.0', '1.0.0')).toBe('Healthy');
    expect(healthAfter('u2', '1.0.0', '1.1.0', '1.0.0')).toBe('Unhealthy');
  });

  it('after a version that Flux has never applied is not to blame for its failures', () => {
    const never = { annotations: carrying('web=6/1.0.0/u1'), observed: -1, applied: null, attempted: OLD };
    const { result } = evaluated({ kustomization: never, rollouts: [rollout], observed: [failedAt('11:51:00')] });
    expect(result).toMatchObject({
      health: 'Pending',
      message: expect.stringMatching(/Unhealthy resources of the version before: /),
    });
  });

  it('of another Rollout of that name does not matter', () => {
    expect(health('web=6/1.0.0/u2').health).toBe('Healthy');
  });
});
