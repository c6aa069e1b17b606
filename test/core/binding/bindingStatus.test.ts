import { describe, expect, it } from 'vitest';
import { BYPASSED_GATES } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { FluxBinding, Gate, Rollout } from '../../../api/types.ts';
import { makeBinding, reportInputsOf, reportOf } from '../../../core/binding/bindingSpec.ts';
import { atomicUpdateOf, bindingStatus } from '../../../core/binding/bindingStatus.ts';
import { decorate } from '../../../core/binding/decorate.ts';
import { ANY_REF } from '../../../core/gate/gateRefs.ts';
import { annotate } from '../../../core/kube/annotate.ts';
import { byRefKey, identityOf } from '../../../core/kube/names.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { evaluateObjectGates } from '../../../core/objectGates/objectGates.ts';
import {
  deployment,
  gate,
  helmRelease,
  kustomization,
  NO_SELECTING_GATES,
  NOW,
  ociRepository,
  released,
  rollout,
  rolloutsByName,
} from '../admission/objects.ts';

const SOURCE = { kind: 'OCIRepository', name: 'web' };
const my = rollout('my-app', '1.1.0', '1.0.0');
const head = { rollout: 'my-app', id: 2, version: '1.1.0', uid: 'uid-my-app' };
const at2 = { deployed: deployment('my-app', 2, '1.1.0') };
const closed = gate('shop/freeze');

const synced = (revision: string, { generation = 3, readyAt = 3, ready = 'True' } = {}) => ({
  observedGeneration: generation,
  lastAppliedRevision: revision,
  conditions: [
    { type: 'Ready', status: ready, reason: 'x', message: '', lastTransitionTime: '', observedGeneration: readyAt },
  ],
});
const fetched = (revision: string, observedGeneration = 3) => ({ observedGeneration, artifact: { revision } });

interface Row {
  title: string;
  object: FluxObject;
  source: FluxObject | undefined;
  applier?: FluxObject;
  rollouts?: Rollout[];
  gates?: Gate[];
  before?: FluxBinding['status'];
  state?: string;
  deployed?: string | undefined;
  ready: [status: string, message: RegExp];
}

/** A binding that waits for Flux. */
const waits: Pick<Row, 'state' | 'ready'> = {
  state: 'Waiting',
  ready: ['Unknown', /^waiting for Flux to apply my-app 1\.1\.0 \(2\)$/],
};
const applied: Pick<Row, 'state' | 'ready'> = { state: 'Applied', ready: ['True', /^my-app 1\.1\.0 \(2\) applied$/] };
const waitsForSource: Pick<Row, 'state' | 'ready'> = {
  state: 'Waiting',
  ready: [
    'Unknown',
    /^waiting for OCIRepository 'web' to fetch my-app 1\.1\.0 \(2\); Kustomization 'web' is suspended until then$/,
  ],
};

const at1 = { deployed: deployment('my-app', 1, '1.0.0') };
const git = { ...ociRepository(null, { annotations: {}, status: fetched('main@sha1:1') }), kind: 'GitRepository' };
const oci = ociRepository({ tag: '1.1.0' }, { ...at2, status: fetched('1.1.0@sha256:1') });
/** The source with the previous version. */
const before = ociRepository({ tag: '1.0.0' }, { ...at1, status: fetched('1.0.0@sha256:0') });
/** The source with the version's tag, before its artifact is fetched. */
const fetching = ociRepository({ tag: '1.1.0' }, { ...at2, status: fetched('1.0.0@sha256:0', 2) });
const failing = ociRepository(
  { tag: '1.1.0' },
  {
    ...at2,
    status: {
      ...fetched('1.0.0@sha256:0'),
      conditions: [{ type: 'FetchFailed', status: 'True', reason: 'NotFound', observedGeneration: 3 }],
    },
  },
);
const ofGit = (status?: object, spec: object = {}) =>
  kustomization({ ...at2, spec: { ...spec }, ...(status && { status: { ...status } }) });
const ofSource = (revision: string) => ofGit(synced(revision), { sourceRef: SOURCE });

const row = (
  title: string,
  object: FluxObject,
  source: Row['source'],
  rest: Omit<Row, 'title' | 'object' | 'source'>,
): Row => {
  return { title, object, source, ...rest };
};

const rows: Row[] = [
  row('a new deployment is on its way', kustomization(at1), undefined, waits),
  row('written, not applied', ofGit(), git, waits),
  row('applied from the newest artifact', ofGit(synced('main@sha1:1')), git, applied),
  row('an older artifact was applied', ofGit(synced('main@sha1:0')), git, waits),
  row('Ready is of an older generation', ofGit(synced('main@sha1:1', { readyAt: 2 })), git, waits),
  row('the status is of an older generation', ofGit(synced('main@sha1:1', { generation: 2 })), git, waits),
  row('a suspended Kustomization looks ready and is not', ofGit(synced('main@sha1:1'), { suspend: true }), git, waits),
  row('the source is not there', ofGit(synced('main@sha1:1')), undefined, waits),
  row(
    'the source of the same Rollout has not fetched the tag yet: what was applied is the version before',
    ofSource('1.0.0@sha256:0'),
    fetching,
    waitsForSource,
  ),
  row('the source of the same Rollout has not been written yet', ofSource('1.0.0@sha256:0'), before, {
    deployed: at1.deployed,
    ...waitsForSource,
  }),
  row('the source cannot fetch the tag: the version before goes on', ofSource('1.0.0@sha256:0'), failing, {
    state: 'Waiting',
    ready: [
      'Unknown',
      /^waiting for my-app 1\.1\.0 \(2\), but OCIRepository 'web' cannot fetch it \(NotFound\)\. Kustomization 'web' stays on its present version$/,
    ],
  }),
  row('source and Kustomization have it', ofSource('1.1.0@sha256:1'), oci, applied),
  row('an OCIRepository fetched the tag', oci, undefined, applied),
  row(
    'an OCIRepository holds the artifact of a tag with the same beginning',
    ociRepository({ tag: '1.1.0' }, { ...at2, status: fetched('1.1.0-rc1@sha256:1') }),
    undefined,
    waits,
  ),
  row('proven once is proven, also while it is suspended', ofGit(undefined, { suspend: true }), git, {
    before: { applied: [head] },
    ...applied,
  }),
  row(
    'Flux has applied another value since, which a user wrote while the webhook was down',
    kustomization({ ...at2, substitute: { APP: '1.0.0' }, status: synced('main@sha1:1') }),
    git,
    {
      before: { applied: [head] },
      state: 'Waiting',
      ready: ['Unknown', /apply my-app 1\.1\.0 \(2\): another value was written while the webhook was not called$/],
    },
  ),
  row('the proof of an older deployment is no proof', ofGit(), git, {
    before: { applied: [{ ...head, id: 1 }] },
    ...waits,
  }),
  row('the proof for a Rollout of that name that was deleted is no proof', ofGit(), git, {
    before: { applied: [{ ...head, uid: 'older' }] },
    ...waits,
  }),
  row('no such Rollout: the object keeps what it carries', ofGit(), undefined, {
    rollouts: [],
    state: 'Missing',
    ready: ['False', /^waiting for Rollout 'my-app', which does not exist$/],
  }),
  row('a Rollout that has deployed nothing', kustomization(), undefined, {
    rollouts: [rollout('my-app')],
    state: 'Missing',
    deployed: undefined,
    ready: ['False', /^waiting for the first deployment of Rollout 'my-app'$/],
  }),
  row('behind a closed gate nothing moves', kustomization(at1), undefined, {
    gates: [closed],
    state: 'Waiting',
    deployed: at1.deployed,
    ready: ['False', /^waiting for gate shop\/freeze: Gate closed by default$/],
  }),
  row(
    'the gates are open and the suspension waits for the owner',
    kustomization({
      ...at2,
      annotations: {
        'rollout.kuberik.com/substitute.APP.from': 'my-app',
        'gate.fluxcd.io/state': 'opening: 2026-03-04T09:59:00Z',
      },
      labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' },
      spec: { suspend: true },
    }),
    undefined,
    {
      applier: kustomization({ annotations: {} }),
      state: 'Waiting',
      ready: [
        'False',
        /^suspended until Kustomization 'shop\/apps' applies it again, as requested at 2026-03-04T09:59:00Z$/,
      ],
    },
  ),
  row(
    'annotations that are wrong',
    kustomization({ annotations: { 'rollout.kuberik.com/substitute.APP.from': 'a,b' } }),
    undefined,
    { deployed: undefined, ready: ['False', /^Rollouts a and b claim APP, so none sets it/] },
  ),
];

const chart = (digest: string) => ociRepository({ tag: '1.1.0' }, { ...at2, status: fetched(`1.1.0@${digest}`) });
const release = (...of: Parameters<typeof released>) => helmRelease({ status: released(...of) });

const followers = [
  row(
    'a HelmRelease has released what its source has fetched of the deployment',
    release('sha256:1'),
    chart('sha256:1'),
    applied,
  ),
  row(
    'the same of a tag that is no version: helm-controller then names the whole revision',
    release('1.1.0@sha256:1'),
    chart('sha256:1'),
    applied,
  ),
  row(
    'its source has fetched the deployment, and Helm has not released that',
    release('sha256:0'),
    chart('sha256:1'),
    waits,
  ),
  row('it has released what its source has, and that is the version before', release('sha256:0'), before, waits),
  row('its source carries the deployment, and still has the previous artifact', release('sha256:0'), fetching, waits),
  row(
    'proven once is proven, also while its next upgrade fails',
    release('sha256:2', { status: 'failed', ready: 'False' }),
    chart('sha256:2'),
    { before: { applied: [head] }, ...applied },
  ),
  row(
    'its source follows nobody',
    release('sha256:1'),
    ociRepository({ tag: '1.1.0' }, { annotations: {}, status: fetched('1.1.0@sha256:1') }),
    {
      state: 'Waiting',
      ready: [
        'Unknown',
        /apply my-app 1\.1\.0 \(2\): OCIRepository 'web' is not bound to that Rollout: annotate it with rollout\.kuberik\.com\/rollout=my-app$/,
      ],
    },
  ),
  row('its source is not there', release('sha256:1'), undefined, {
    state: 'Waiting',
    ready: ['Unknown', /\(2\): OCIRepository 'web' does not exist$/],
  }),
  row(
    'its chart is not that of an OCIRepository',
    helmRelease({ spec: { chartRef: { kind: 'HelmChart', name: 'web' } }, status: released('sha256:1') }),
    undefined,
    { state: 'Waiting', ready: ['False', /^rollout\.kuberik\.com\/rollout on a HelmRelease needs a spec\.chartRef/] },
  ),
].map((row): Row => ({ ...row, ready: row.ready as Row['ready'], deployed: undefined }));

function bound(object: FluxObject, row?: Partial<Row>): FluxBinding {
  const refs = (row?.gates ?? []).map(identityOf);
  return {
    ...makeBinding(object, { refs, problems: [] }, undefined, false)!,
    ...(row?.before && { status: row.before }),
  };
}

describe('spec of a FluxBinding', () => {
  it('has the source in the version that is read, since users may write any version', () => {
    const sourceRef = { ...SOURCE, apiVersion: '../version' };
    const { spec } = bound(kustomization({ spec: { sourceRef } }));
    expect(spec?.source?.apiVersion).toBe('source.toolkit.fluxcd.io/v1');
  });

  it('is not that of another object, though one has the name that the hash of the other makes', () => {
    const named = (name: string) => {
      const object = kustomization();
      return bound({ ...object, metadata: { ...object.metadata, name } }).metadata.name ?? '';
    };
    for (const long of ['a'.repeat(245), `${'a'.repeat(200)}${'-'.repeat(44)}z`, 'b'.repeat(239)]) {
      const twin = named(long).slice('kustomization-'.length);
      expect(named(twin)).not.toBe(named(long));
      expect(named(twin).length).toBeLessThanOrEqual(253);
    }
  });
});

describe('status of a FluxBinding', () => {
  it.each([...rows, ...followers])('$title', (row) => {
    const binding = bound(row.object, row);
    const { source, applier, gates = [] } = row;
    const rollouts = rolloutsByName(...(row.rollouts ?? [my]));
    const { report } = reportOf(binding, { rollouts, gates: byRefKey(gates) }, NOW);
    const related = { report, atomic: atomicUpdateOf(binding, rollouts, source), source, applier };
    const status = bindingStatus(binding, related, NOW);
    expect(status.fields?.[0]?.state).toBe(row.state);
    expect(status.deployed).toBe('deployed' in row ? row.deployed : at2.deployed);
    const ready = status.conditions?.find((condition) => condition.type === 'Ready');
    expect([ready?.status, ready?.message]).toEqual([row.ready[0], expect.stringMatching(row.ready[1])]);
    expect(bindingStatus({ ...binding, status }, related, NOW + 60_000), 'a minute later').toEqual(status);
  });

  it.each([
    { title: 'a source that is always newer', object: ofGit(synced('main@sha1:0')), source: git, proven: [head] },
    { title: 'the source of the same Rollout', object: ofSource('1.1.0@sha256:0'), source: oci, proven: undefined },
  ])('counts the second artifact that was applied with the version as its proof: $title', ({ object, ...row }) => {
    const binding = bound(object);
    const again = { ...binding.spec!, observed: { ...binding.spec!.observed, reapplied: true } };
    const { report } = reportOf(binding, reportInputsOf([my], []), NOW);
    expect(bindingStatus({ ...binding, spec: again }, { report, source: row.source }, NOW).applied).toEqual(row.proven);
  });

  it('of two Rollouts, only the one that bypasses the closed Gate gets its new version', () => {
    const object = kustomization({
      annotations: {
        'rollout.kuberik.com/substitute.APP.from': 'my-app',
        'rollout.kuberik.com/substitute.OTHER.from': 'other',
        'gate.fluxcd.io/gates': 'freeze',
      },
      deployed: `${deployment('my-app', 1, '1.0.0')},${deployment('other', 1, '5')}`,
      substitute: { APP: '1.0.0', OTHER: '5' },
      status: synced('main@sha1:1'),
    });
    const granted = annotate(my, BYPASSED_GATES, `1.1.0 (2) ${formatTime(NOW)}: shop/freeze`);
    const reportInputs = reportInputsOf([granted, rollout('other', '6', '5')], [closed]);
    const gates = evaluateObjectGates(object, {
      ...reportInputs,
      ...ANY_REF,
      selectingGates: NO_SELECTING_GATES,
      now: NOW,
    });
    const from = { object, stored: undefined, gates, reportInputs, waiting: [], mayRequest: false };
    const next = `${deployment('my-app', 2, '1.1.0')},${deployment('other', 1, '5')}`;
    expect(decorate(from, NOW).annotations?.['rollout.kuberik.com/deployed']).toBe(next);
  });

  it('reports since when a Gate holds, with the Gate’s message', () => {
    const object = kustomization(at2);
    const binding = bound(object, { gates: [closed] });
    const around = (gate: Gate) => ({ ...reportOf(binding, reportInputsOf([my], [gate]), NOW), source: git });
    const status = bindingStatus(binding, around(closed), NOW);
    expect(status).toMatchObject({
      heldSince: '2026-03-04T10:00:00Z',
      gates: [{ name: 'freeze', message: 'Gate closed by default' }],
    });
    expect(status.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Approved',
        status: 'False',
        message: "Reconciliation is waiting approval, gate 'shop/freeze' is closed.",
      }),
    );
    const after = bindingStatus({ ...binding, status }, around(gate('shop/freeze', { default: 'opened' })), NOW + 5000);
    expect(after.heldSince).toBeUndefined();
    expect(after.conditions).toContainEqual(expect.objectContaining({ type: 'Approved', status: 'True' }));
  });
});
