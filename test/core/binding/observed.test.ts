import { expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import type { DeploymentRef, FluxBinding, FluxBindingSpec } from '../../../api/types.ts';
import { observedOf } from '../../../core/binding/arrival.ts';
import { objectOf } from '../../support/objects.ts';
import { deployment, helmRelease, kustomization, ociRepository, released } from '../admission/objects.ts';

type Observed = FluxBindingSpec['observed'];

const deploymentAs = (id: number, version: string): DeploymentRef => ({
  rollout: 'my-app',
  id,
  version,
  uid: 'uid-my-app',
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
const before: Observed = { deployed: [one], applied: 'main@sha1:1' };

interface Row {
  says: string;
  object: FluxObject;
  before: Observed;
  /** Proven deployments in the binding's status. */
  latched?: DeploymentRef[];
  now: Observed | 'as before';
}

const rows: Row[] = [
  { says: 'written, and Flux is not there yet', object: kustomization(at2), before, now: 'as before' },
  { says: 'the first deployment, and Flux is not there yet', object: kustomization(at2), before: {}, now: 'as before' },
  {
    says: 'applied: reported with the proof',
    object: kustomization({ ...at2, status: ready('main@sha1:1') }),
    before,
    now: { deployed: [two], applied: 'main@sha1:1' },
  },
  {
    says: 'fetched: reported with the proof',
    object: ociRepository(
      { tag: '1.1.0' },
      { ...at2, status: { observedGeneration: 3, artifact: { revision: '1.1.0@sha256:1' } } },
    ),
    before: { deployed: [one], fetched: '1.0.0@sha256:0' },
    now: { deployed: [two], fetched: '1.1.0@sha256:1' },
  },
  {
    says: 'a newer artifact applied while the proof is still awaited',
    object: kustomization({ ...at2, status: ready('main@sha1:2') }),
    before: { deployed: [two], applied: 'main@sha1:1' },
    now: { deployed: [two], applied: 'main@sha1:2' },
  },
  {
    says: 'a newer artifact applied once the deployment is proven',
    object: kustomization({ ...at2, status: ready('main@sha1:2') }),
    before: { deployed: [two], applied: 'main@sha1:1' },
    latched: [two],
    now: 'as before',
  },
  {
    says: 'Flux at work on a commit',
    object: kustomization({ ...at2, status: reconciling }),
    before: { deployed: [two], applied: 'main@sha1:1' },
    now: 'as before',
  },
  {
    says: 'suspended with the reported deployment',
    object: kustomization({ ...at2, spec: { suspend: true } }),
    before: { deployed: [two], applied: 'main@sha1:1' },
    now: 'as before',
  },
  {
    says: 'suspended with another deployment: no proof will come',
    object: kustomization({ ...at2, spec: { suspend: true } }),
    before,
    now: { deployed: [two] },
  },
];

const releases: Row[] = [
  {
    says: 'a HelmRelease has released a chart',
    object: helmRelease({ status: released('sha256:2') }),
    before: { applied: 'sha256:1' },
    now: { applied: 'sha256:2' },
  },
  {
    says: 'it is being upgraded: the old release is not reported again: it may return without running',
    object: helmRelease({ status: released('sha256:2', { ready: 'Unknown' }) }),
    before: { applied: 'sha256:1' },
    now: {},
  },
  {
    says: 'it is Ready one write before its history has the new release: what ran before is what it proves',
    object: helmRelease({ status: { ...released('sha256:1'), lastAttemptedRevisionDigest: 'sha256:2' } }),
    before: {},
    now: { applied: 'sha256:1' },
  },
  {
    says: 'its upgrade has failed before Helm changed anything: the release before is the newest',
    object: helmRelease({ status: released('sha256:1', { ready: 'False' }) }),
    before: { applied: 'sha256:1' },
    now: {},
  },
  {
    says: 'its upgrade has failed',
    object: helmRelease({ status: released('sha256:2', { status: 'failed', ready: 'False' }) }),
    before: { applied: 'sha256:1' },
    now: {},
  },
  {
    says: 'it has other values now, which are not released yet',
    object: helmRelease({ generation: 4, status: released('sha256:2') }),
    before: { applied: 'sha256:2' },
    now: {},
  },
  {
    says: 'it is Ready by another release than the newest',
    object: helmRelease({ status: released('sha256:2', { status: 'superseded' }) }),
    before: {},
    now: {},
  },
  {
    says: 'it is suspended, and only looks ready',
    object: helmRelease({ spec: { suspend: true }, status: released('sha256:2') }),
    before: {},
    now: {},
  },
];

it.each([...rows, ...releases])('$says', ({ object, before: observed, latched, now }) => {
  const binding: FluxBinding = objectOf('FluxBinding', {
    metadata: { name: 'x' },
    spec: { target: { apiVersion: '', kind: '', name: '', uid: object.metadata.uid! }, ...(observed && { observed }) },
    ...(latched && { status: { applied: latched } }),
  });
  expect(observedOf(object, binding)).toEqual(now === 'as before' ? observed : now);
});

it('a binding of an earlier object of that name tells nothing', () => {
  const binding = objectOf('FluxBinding', {
    metadata: { name: 'x' },
    spec: { target: { apiVersion: '', kind: '', name: '', uid: 'earlier' }, observed: before },
  }) as FluxBinding;
  expect(observedOf(kustomization(at2), binding)).toEqual({ deployed: [two] });
});
