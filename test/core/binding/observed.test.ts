import { expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import type { DeploymentRef, FluxBinding, FluxBindingSpec } from '../../../api/types.ts';
import { observedOf } from '../../../core/binding/appliedDeployment.ts';
import { objectOf } from '../../support/objects.ts';
import { deployment, helmRelease, kustomization, ociRepository, released } from '../admission/objects.ts';

type ObservedDeployments = FluxBindingSpec['observed'];

const deploymentAs = (id: number, version: string): DeploymentRef => ({
  rollout: 'my-app',
  id,
  version,
  uid: 'uid-my-app',
});
/** The status of helm-controller after a remediation by rollback to chart 1.0.0. */
const rolledBack = (lastAttemptedRevision: string) => ({
  ...released('sha256:1'),
  lastAttemptedRevision,
  history: [{ version: 4, status: 'deployed', chartVersion: '1.0.0+aaa' }],
});
const one = deploymentAs(1, '1.0.0');
const two = deploymentAs(2, '1.1.0');
const at2 = { deployed: deployment('my-app', 2, '1.1.0') };
const ready = (revision: string) => ({
  observedGeneration: 3,
  lastAppliedRevision: revision,
  conditions: [{ type: 'Ready', status: 'True', observedGeneration: 3 }],
});
const reconciling = {
  observedGeneration: 3,
  conditions: [{ type: 'Ready', status: 'Unknown', observedGeneration: 3 }],
};
const REAPPLYING = { ...reconciling, lastAppliedRevision: 'main@sha1:1' };
/** Written at 12:00:00; Flux's last attempt has ended, and another one runs. */
function atWork({ ended = '12:00:09', took = '8.9s', status = 'ReconciliationSucceeded' }): FluxObject {
  const history = [
    { lastReconciled: `2026-01-02T${ended}Z`, lastReconciledDuration: took, lastReconciledStatus: status },
  ];
  const object = kustomization({ ...at2, status: { ...REAPPLYING, history } });
  const managedFields = [{ manager: 'kubectl-replace', operation: 'Update', time: '2026-01-02T12:00:00Z' }] as never;
  return { ...object, metadata: { ...object.metadata, managedFields } };
}
const before: ObservedDeployments = { deployed: [one], applied: 'main@sha1:1' };

interface Row {
  title: string;
  object: FluxObject;
  before: ObservedDeployments;
  /** Proven deployments in the binding's status. */
  latched?: DeploymentRef[];
  now: ObservedDeployments | 'as before';
}

const row = (
  title: string,
  object: FluxObject,
  before: ObservedDeployments,
  now: Row['now'],
  rest: Pick<Row, 'latched'> = {},
): Row => {
  return { title, object, before, now, ...rest };
};
const APPLIED = { deployed: [two], applied: 'main@sha1:1' };

const rows: Row[] = [
  row('written, and Flux is not there yet', kustomization(at2), before, 'as before'),
  row('the first deployment, and Flux is not there yet', kustomization(at2), {}, 'as before'),
  row('applied: reported with the proof', kustomization({ ...at2, status: ready('main@sha1:1') }), before, APPLIED),
  row(
    'the annotation without the version, written while the API server did not call the webhook',
    kustomization({ ...at2, substitute: { APP: '1.0.0' }, status: ready('main@sha1:1') }),
    before,
    { applied: 'main@sha1:1' },
  ),
  row(
    'that of one of two Rollouts: the other one has its version',
    kustomization({
      annotations: {
        'rollout.kuberik.com/substitute.APP.from': 'my-app',
        'rollout.kuberik.com/substitute.DB.from': 'gone',
      },
      deployed: `${deployment('gone', 1, '5')},${at2.deployed}`,
      substitute: { APP: '1.1.0', DB: '4' },
      status: ready('main@sha1:1'),
    }),
    before,
    APPLIED,
  ),
  row(
    'fetched: reported with the proof',
    ociRepository(
      { tag: '1.1.0' },
      { ...at2, status: { observedGeneration: 3, artifact: { revision: '1.1.0@sha256:1' } } },
    ),
    { deployed: [one], fetched: '1.0.0@sha256:0' },
    { deployed: [two], fetched: '1.1.0@sha256:1' },
  ),
  row(
    'a newer artifact applied while the proof is still awaited',
    kustomization({ ...at2, status: ready('main@sha1:2') }),
    APPLIED,
    { deployed: [two], applied: 'main@sha1:2', reapplied: true },
  ),
  row(
    'that artifact still applied',
    kustomization({ ...at2, status: ready('main@sha1:2') }),
    { deployed: [two], applied: 'main@sha1:2', reapplied: true },
    'as before',
  ),
  row(
    'another deployment since two artifacts were applied',
    kustomization({ ...at2, status: ready('main@sha1:3') }),
    { deployed: [one], applied: 'main@sha1:2', reapplied: true },
    { deployed: [two], applied: 'main@sha1:3' },
  ),
  row('Flux at work on a commit, after it has applied an older one with the present spec', atWork({}), before, APPLIED),
  row(
    'Flux at work on a commit, after it has applied an older one with an earlier spec',
    kustomization({ ...at2, status: { ...reconciling, observedGeneration: 2, lastAppliedRevision: 'main@sha1:1' } }),
    before,
    'as before',
  ),
  row(
    'Flux at work, after it has only observed the spec, as it does when it adds its finalizer',
    atWork({ ended: '11:59:59' }),
    before,
    'as before',
  ),
  row('Flux at work, after an attempt that began before the write', atWork({ took: '9.1s' }), before, 'as before'),
  row('Flux at work, after an attempt that failed', atWork({ status: 'HealthCheckFailed' }), before, 'as before'),
  row('Flux at work, without a history', kustomization({ ...at2, status: REAPPLYING }), before, 'as before'),
  row(
    'a commit that could not be applied',
    kustomization({ ...at2, status: { ...ready('main@sha1:1'), conditions: [{ type: 'Ready', status: 'False' }] } }),
    before,
    'as before',
  ),
  row(
    'a newer artifact applied once the deployment is proven',
    kustomization({ ...at2, status: ready('main@sha1:2') }),
    APPLIED,
    'as before',
    { latched: [two] },
  ),
  row('Flux at work on a commit', kustomization({ ...at2, status: reconciling }), APPLIED, 'as before'),
  row(
    'suspended with the reported deployment',
    kustomization({ ...at2, spec: { suspend: true } }),
    APPLIED,
    'as before',
  ),
  row(
    'suspended with another deployment: no proof will come',
    kustomization({ ...at2, spec: { suspend: true } }),
    before,
    { deployed: [two] },
  ),
];

const releases: Row[] = [
  row(
    'a HelmRelease has released a chart',
    helmRelease({ status: released('sha256:2') }),
    { applied: 'sha256:1' },
    { applied: 'sha256:2' },
  ),
  row(
    'it is being upgraded: the old release is not reported again: it may return without running',
    helmRelease({ status: released('sha256:2', { ready: 'Unknown' }) }),
    { applied: 'sha256:1' },
    {},
  ),
  row(
    'it is Ready one write before its history has the new release: what ran before is what it proves',
    helmRelease({ status: { ...released('sha256:1'), lastAttemptedRevisionDigest: 'sha256:2' } }),
    {},
    { applied: 'sha256:1' },
  ),
  row(
    'its upgrade has failed before Helm changed anything: the release before is the newest',
    helmRelease({ status: released('sha256:1', { ready: 'False' }) }),
    { applied: 'sha256:1' },
    {},
  ),
  row(
    'its upgrade has failed',
    helmRelease({ status: released('sha256:2', { status: 'failed', ready: 'False' }) }),
    { applied: 'sha256:1' },
    {},
  ),
  row(
    'it has other values now, which are not released yet',
    helmRelease({ generation: 4, status: released('sha256:2') }),
    { applied: 'sha256:2' },
    {},
  ),
  row(
    'Helm rolled it back to the chart that its source has again: the new release has no digest (F14)',
    helmRelease({ status: rolledBack('1.0.0+aaa') }),
    {},
    { applied: 'sha256:1' },
  ),
  row(
    'Helm rolled it back, and the chart that failed is tried again',
    helmRelease({ status: rolledBack('1.1.0+bbb') }),
    {},
    {},
  ),
  row(
    'it is Ready by another release than the newest',
    helmRelease({ status: released('sha256:2', { status: 'superseded' }) }),
    {},
    {},
  ),
  row(
    'it is suspended, and only looks ready',
    helmRelease({ spec: { suspend: true }, status: released('sha256:2') }),
    {},
    {},
  ),
];

it.each([...rows, ...releases])('$title', ({ object, before: observed, latched, now }) => {
  const binding: FluxBinding = objectOf('FluxBinding', 'x', {
    spec: { target: { apiVersion: '', kind: '', name: '', uid: object.metadata.uid! }, ...(observed && { observed }) },
    ...(latched && { status: { applied: latched } }),
  });
  expect(observedOf(object, binding)).toEqual(now === 'as before' ? observed : now);
});

it('a binding of an earlier object of that name reports nothing', () => {
  const binding = objectOf('FluxBinding', 'x', {
    spec: { target: { apiVersion: '', kind: '', name: '', uid: 'earlier' }, observed: before },
  }) as FluxBinding;
  expect(observedOf(kustomization(at2), binding)).toEqual({ deployed: [two] });
});
