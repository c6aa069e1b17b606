/** The applier's attempts since an object's Gates opened, and how long the object waits for them. */
import { describe, expect, it } from 'vitest';
import { AWAITS_ARTIFACT, GATE_STATE, RECONCILE_REQUESTED_AT } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { formatInstant } from '../../../core/kube/time.ts';
import { applierOf, applierState, mayApply, waitEnds } from '../../../core/suspension/applier.ts';
import { kustomization, NOW } from '../admission/objects.ts';

const OPENED = formatInstant(NOW);
const EARLIER = formatInstant(NOW - 1000);
const MINUTE = 60_000;
const APPLIED = { apiVersion: 'apps.example/v1', kind: 'App', namespace: 'shop', name: 'api' };

interface Applier {
  /** `True`, `Unknown`, or the reason of Ready=False. */
  ready?: string;
  /** The generation Ready is about; the object's is 3. */
  readyAt?: number;
  asked?: string;
  handled?: string;
  suspended?: true;
  gate?: string;
  fetching?: true;
  deleting?: true;
  /** The name of its own applier. */
  appliedBy?: string;
}

function applier({
  ready,
  readyAt = 3,
  asked,
  handled,
  suspended,
  gate,
  fetching,
  deleting,
  appliedBy,
}: Applier): FluxObject {
  const status = ready === 'True' || ready === 'Unknown' ? ready : 'False';
  const condition = { type: 'Ready', status, reason: ready, message: '', observedGeneration: readyAt };
  const object = kustomization({
    ...(appliedBy && { labels: { 'kustomize.toolkit.fluxcd.io/name': appliedBy } }),
    annotations: {
      ...(asked && { [RECONCILE_REQUESTED_AT]: asked }),
      ...(gate && { [GATE_STATE]: gate }),
      ...(fetching && { [AWAITS_ARTIFACT]: 'my-app=2/1.1.0/uid-my-app' }),
    },
    spec: suspended ? { suspend: true } : {},
    status: { ...(ready && { conditions: [condition] }), ...(handled && { lastHandledReconcileAt: handled }) },
  });
  return deleting ? { ...object, metadata: { ...object.metadata, deletionTimestamp: OPENED } } : object;
}

const CAME = { asked: OPENED, handled: OPENED };
/** A status that handled an older request last. */
const AT_IT = { asked: OPENED, handled: EARLIER };

/** The applier, its state, and how long an object waits for it. */
type Row = [title: string, applier: Applier | undefined, state: string, wait: number | typeof EVER];
const EVER = 'as long as it is so';

const rows: Row[] = [
  ['not asked yet', { ready: 'True' }, 'Requested', EVER],
  ['asked, and at it', { ready: 'Unknown', ...AT_IT }, 'Requested', EVER],
  ['asked, while its sync of before the opening ends well', { ready: 'True', ...AT_IT }, 'Requested', EVER],
  ['that sync had been asked for before', { ready: 'True', ...AT_IT, asked: EARLIER }, 'Requested', EVER],
  [
    'somebody whose clock is ahead had asked before the opening',
    { ready: 'True', asked: OPENED, handled: formatInstant(NOW + MINUTE / 2) },
    'Requested',
    EVER,
  ],
  ['it has applied everything since', { ready: 'True', ...CAME }, 'Done', 0],
  ['it could not delete the object, since that is suspended', { ready: 'PruneFailed', ...CAME }, 'Done', 0],
  ['it waited in vain for the health of what it applied', { ready: 'HealthCheckFailed', ...CAME }, 'Done', 0],
  ['it was called away from that wait', { ready: 'HealthCheckCanceled', ...CAME }, 'Done', 0],
  ['it cannot build', { ready: 'BuildFailed', ...CAME }, 'Failing', EVER],
  ['its source is down', { ready: 'ArtifactFailed', ...CAME }, 'Failing', EVER],
  ['another object of it was refused', { ready: 'ReconciliationFailed', ...CAME }, 'Failing', EVER],
  ['it waits for another', { ready: 'DependencyNotReady', ...CAME }, 'Failing', EVER],
  ['it failed before the opening', { ready: 'BuildFailed' }, 'Failing', EVER],
  ['it failed after its apply, before the opening', { ready: 'PruneFailed' }, 'Requested', EVER],
  [
    'suspended it took the request for handled; now it is resumed and about to begin',
    { ready: 'True', readyAt: 1, ...CAME },
    'Requested',
    EVER,
  ],
  ['a person suspends it', { ready: 'True', suspended: true, ...CAME }, 'Suspended', 2 * MINUTE],
  ['a closed gate suspends it', { suspended: true, gate: 'closed: shop/freeze' }, 'Suspended', 2 * MINUTE],
  ['it waits for its own applier', { suspended: true, gate: `opening: ${OPENED}` }, 'Requested', EVER],
  ['its source is fetching its version', { suspended: true, fetching: true }, 'Requested', EVER],
  [
    'also behind a closed gate',
    { suspended: true, fetching: true, gate: 'closed: shop/freeze' },
    'Suspended',
    2 * MINUTE,
  ],
  ['it is being deleted, and wants to delete the object', { ready: 'True', deleting: true }, 'Deleting', 0],
  ['also suspended', { suspended: true, deleting: true }, 'Deleting', 0],
  ['there is none', undefined, 'Missing', 2 * MINUTE],
];

describe('the applier', () => {
  it.each(rows)('%s', (_, parts, state, wait) => {
    const found = applierState(parts && applier(parts), APPLIED, NOW, NOW + MINUTE);
    expect(found.state).toBe(state);
    const end = waitEnds(found, NOW);
    expect(end === undefined ? EVER : end - NOW).toBe(wait);
  });

  it('does not wait for the object itself: neither would ever apply the other', () => {
    const object = { ...APPLIED, kind: 'Kustomization' };
    const waiting = (appliedBy: string) => applier({ suspended: true, gate: `opening: ${OPENED}`, appliedBy });
    expect(applierState(waiting(APPLIED.name), object, NOW, NOW)).toEqual({ state: 'Suspended' });
    expect(applierState(waiting(APPLIED.name), APPLIED, NOW, NOW)).toEqual({ state: 'Requested' });
    expect(applierState(waiting('another'), object, NOW, NOW)).toEqual({ state: 'Requested' });
  });

  it('reports its failure in one word: times and counts in a message would differ at each retry', () => {
    expect(applierState(applier({ ready: 'BuildFailed' }), APPLIED, NOW, NOW)).toEqual({
      state: 'Failing',
      reason: 'BuildFailed',
    });
  });
});

describe('the applier of an object', () => {
  const labels = (name?: string, namespace?: string) => ({
    ...(name && { 'kustomize.toolkit.fluxcd.io/name': name }),
    ...(namespace !== undefined && { 'kustomize.toolkit.fluxcd.io/namespace': namespace }),
  });
  it.each([
    [
      'the Kustomization that its labels name',
      labels('apps', 'flux-system'),
      { namespace: 'flux-system', name: 'apps' },
    ],
    ['in its own namespace, where they name none', labels('apps'), { namespace: 'shop', name: 'apps' }],
    ['in its own namespace, where they name an empty one', labels('apps', ''), { namespace: 'shop', name: 'apps' }],
    ['nobody, without them', labels(), undefined],
    ['nobody, where it applies itself', labels('web', 'shop'), undefined],
  ])('%s', (_, of, expected) => {
    expect(applierOf(kustomization({ labels: of }))).toEqual(expected);
  });
});

describe('the labels that name an applier are believed', () => {
  const named = (namespace: string, ids?: string[]) => {
    const inventory = ids && { inventory: { entries: ids.map((id) => ({ id, v: 'v1' })) } };
    const found = kustomization({ annotations: {}, status: inventory ?? {} });
    return { ...found, metadata: { ...found.metadata, namespace, name: 'apps' } };
  };
  const listed = ['shop_api_apps.example_App'];

  it.each([
    ['where its inventory lists the object', named('flux-system', listed), true],
    ['not where it lists others', named('flux-system', ['shop_api_apps_Deployment']), false],
    ['not where it lists others in its own namespace either', named('shop', []), false],
    ['without an inventory in its own namespace', named('shop'), true],
    ['without an inventory not in another namespace', named('flux-system'), false],
  ])('%s', (_, found, expected) => {
    expect(mayApply(found, APPLIED)).toBe(expected);
  });

  it('and an object that is not in its inventory is resumed after two minutes', () => {
    const found = applierState(named('flux-system', []), APPLIED, NOW, NOW);
    expect(found).toEqual({ state: 'Missing', reason: 'NotInInventory' });
    expect(waitEnds(found, NOW)).toBe(NOW + 2 * MINUTE);
  });
});
