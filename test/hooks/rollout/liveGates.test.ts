/**
 * Every deployment is decided from live reads, on each path of the hook; Gates of bound objects come from the current
 * objects.
 */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutStatus } from '../../../api/types.ts';
import { boundLabel } from '../../../core/binding/bindingSpec.ts';
import { LIMIT_OF_GATES } from '../../../core/gate/closedGates.ts';
import { rolloutHook } from '../../../hooks/rollout/rolloutHook.ts';
import { fakeCall, imagePolicy, NOW, object, request, rollout } from './call.ts';
import { deployed, freeze, sync } from './sync.ts';

type AnyObject = KubeObject<any, any>;

const BINDS = { 'rollout.kuberik.com/substitute.APP.from': 'app' };

/** A bound Kustomization. */
function bound(name: string, annotations: Record<string, string> = {}, labels?: Record<string, string>): AnyObject {
  const made = object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', name, {});
  const metadata = { ...made.metadata, uid: `uid-of-${name}`, annotations: { ...BINDS, ...annotations } };
  return { ...made, metadata: { ...metadata, ...(labels && { labels }) } };
}

/** Its FluxBinding; `applied`: whether the newest deployment is applied. */
function bindingOf(name: string, gates: string[] = [], uid = `uid-of-${name}`): AnyObject {
  const made = object(
    'kuberik.com/v1alpha1',
    'FluxBinding',
    `kustomization-${name}`,
    {
      target: { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', name, uid },
      fields: [{ rollout: 'app', variable: 'APP' }],
      ...(gates.length > 0 && { gates: gates.map((gate) => ({ namespace: 'team-a', gate })) }),
    },
    { applied: [{ rollout: 'app', uid: 'uid-of-app', id: 1, version: '1.0.0' }] },
  );
  return { ...made, metadata: { ...made.metadata, labels: { [boundLabel('app')]: '' } } };
}

function selecting(name: string, selects: object = {}): AnyObject {
  const made = freeze(name, 'closed');
  const labels = { 'gate.fluxcd.io/selects': 'own-namespace' };
  return { ...made, metadata: { ...made.metadata, labels }, spec: { ...made.spec, selects } };
}

const ago = (hours: number) => new Date(NOW - hours * 3_600_000).toISOString();
const blockedBy = (status: RolloutStatus) =>
  status.conditions?.find(({ type }) => type === 'DeploymentBlocked')?.message ?? '';

describe('a manual request while the last version is still rolling out', () => {
  const baking: RolloutStatus = { ...deployed, history: [{ ...deployed.history![0]!, bakeStatus: 'Deploying' }] };
  const asked = rollout({ bakeTime: '1h', wantedVersion: '6.6.6' }, baking);
  const gated = [bindingOf('prod', ['freeze']), bindingOf('other')];

  it('waits for the closed Gate of a bound object also where another object has no FluxBinding yet', async () => {
    const objects = [
      bound('prod', { 'gate.fluxcd.io/gates': 'freeze' }),
      bound('other'),
      bound('new'),
      ...gated,
      freeze('freeze', 'closed'),
    ];
    const { tags, status } = await sync(asked, [imagePolicy('1.0.0'), ...gated], { objects });
    expect(tags).toEqual(['1.0.0']);
    expect(blockedBy(status)).toContain("Gate 'team-a/freeze' is closed");
  });
});

const { spec: { target } = {}, status: _, ...named } = bindingOf('new');
/** A FluxBinding whose fields a new CRD has dropped: it proves nothing. */
const DROPPED: AnyObject = { ...named, spec: { target } };

describe('an apply before the bake, which waits for health', () => {
  const healthCheck = object('kuberik.com/v1alpha1', 'HealthCheck', 'app', {}, { status: 'Pending' });
  const knownHealth = [{ namespace: 'team-a', name: 'app', status: 'Pending' }];
  const spec = { bakeTime: '1h', healthCheckSelector: { selector: {} } };
  const entry = deployed.history![0]!;

  it.each<[title: string, bakeStatus: 'Deploying' | 'Failed', live: AnyObject[], arrives: boolean]>([
    ['counts where every bound object has the version', 'Deploying', [], true],
    ['does not count where another object has no FluxBinding yet', 'Deploying', [bound('new')], false],
    ['does not count for a failed deployment, which may be retried', 'Failed', [bound('new')], false],
    [
      'does not count where the FluxBinding is that of a deleted object of its name',
      'Deploying',
      [bound('new'), bindingOf('new', [], 'old')],
      false,
    ],
    [
      'does not count where a new CRD has dropped the fields of a FluxBinding',
      'Deploying',
      [bound('new'), DROPPED],
      false,
    ],
  ])('%s', async (_, bakeStatus, live, arrives) => {
    const parent = rollout(spec, { ...deployed, history: [{ ...entry, bakeStatus, knownHealth }] });
    const cached = [bindingOf('prod'), healthCheck];
    const objects = [bound('prod'), ...cached, ...live];
    const { status, resyncAfterSeconds } = await sync(parent, [imagePolicy('1.0.0'), ...cached], { objects });
    expect(status.history?.[0]?.appliedTime !== undefined).toBe(arrives);
    if (!arrives) expect(resyncAfterSeconds).toBe(15);
  });

  it('does not count there either if the stored ImagePolicy no longer selects the version that would follow', async () => {
    const parent = rollout({ deployTimeout: '1h' }, { ...deployed, history: [{ ...entry, bakeStatus: 'Deploying' }] });
    const { status } = await sync(parent, [imagePolicy('1.1.0'), bindingOf('prod')], {
      objects: [bound('prod'), bindingOf('prod'), bound('new')],
      stored: [imagePolicy('1.0.0')],
    });
    expect(status.history?.[0]).toMatchObject({ version: { tag: '1.0.0' }, bakeStatus: 'Deploying' });
  });
});

describe('the Gates of a bound object', () => {
  const naming = (name = 'prod') => bound(name, { 'gate.fluxcd.io/gates': 'freeze' });

  it.each<[title: string, cached: AnyObject[], live: AnyObject[]]>([
    ['that has no FluxBinding', [], [naming()]],
    ['whose FluxBinding is that of a deleted object of its name', [], [naming(), bindingOf('prod', [], 'old')]],
    ['whose FluxBinding does not know them yet', [bindingOf('prod')], [naming(), bindingOf('prod')]],
    ['whose FluxBinding is newer than the cache', [bindingOf('prod')], [naming(), bindingOf('prod', ['freeze'])]],
    ['that a HelmRelease names', [], [{ ...naming(), kind: 'HelmRelease' }].map(follows)],
    ['that select it, by its own annotation', [], [bound('prod', { 'gate.fluxcd.io/selected-by': 'team-a/freeze' })]],
    ['that select it, and its annotation does not have yet', [], [bound('prod')]],
    [
      'that select it, and neither its annotation nor its FluxBinding has yet',
      [bindingOf('prod')],
      [bound('prod'), bindingOf('prod')],
    ],
    [
      'that select it, and are too many for its annotation, whose FluxBinding is older',
      [bindingOf('prod')],
      [bound('prod', { 'gate.fluxcd.io/selected-by': LIMIT_OF_GATES }), bindingOf('prod')],
    ],
  ])('hold a version: %s', async (title, cached, live) => {
    const gate = title.includes('select') ? selecting('freeze') : freeze('freeze', 'closed');
    const { tags, status } = await sync(rollout({}, deployed), [imagePolicy('1.1.0'), ...cached], {
      objects: [gate, ...live],
    });
    expect(tags).toEqual(['1.0.0']);
    expect(blockedBy(status)).toContain("Gate 'team-a/freeze' is closed");
  });

  it.each<[title: string, annotations: Record<string, string>]>([
    ['more than may be read', { 'gate.fluxcd.io/gates': Array.from({ length: 401 }, (_, i) => `g${i}`).join() }],
    [
      'more than its annotation can say',
      { 'gate.fluxcd.io/gates': Array.from({ length: 201 }, (_, i) => `g${i}`).join() },
    ],
  ])('count as closed where they are %s', async (_title, annotations) => {
    const { tags, status } = await sync(rollout({}, deployed), [imagePolicy('1.1.0')], {
      objects: [bound('prod', annotations)],
    });
    expect(tags).toEqual(['1.0.0']);
    expect(blockedBy(status)).toContain('the object requires too many Gates');
  });

  it('hold a version also where the object was bound a moment after the objects were listed for a bake', async () => {
    const entry = {
      ...deployed.history![0]!,
      bakeStatus: 'InProgress' as const,
      appliedTime: ago(2),
      bakeStartTime: ago(1),
    };
    const { sharedReads } = fakeCall().call;
    const syncOf = async (parent: Rollout, tag: string, prod: AnyObject) => {
      const objects = [parent as AnyObject, imagePolicy(tag), prod, bindingOf('prod'), freeze('freeze', 'closed')];
      const { call } = fakeCall({ objects });
      const asked = request(parent, [imagePolicy(tag), bindingOf('prod')]);
      return (await rolloutHook.sync(asked, { ...call, sharedReads })).status as RolloutStatus;
    };
    const baking = rollout({ bakeTime: '1m' }, { ...deployed, history: [entry] });
    const baked = await syncOf(baking, '1.0.0', bound('prod'));
    expect(baked.history?.[0]).toMatchObject({ bakeStatus: 'Succeeded' });
    const status = await syncOf(rollout({ bakeTime: '1m' }, baked), '1.1.0', naming());
    expect(status.history).toHaveLength(1);
    expect(blockedBy(status)).toContain("Gate 'team-a/freeze' is closed");
  });

  it('do not hold an object that isn’t bound to the Rollout, is being deleted, or requires no closed Gate', async () => {
    const gone = naming('gone');
    const objects = [
      { ...gone, metadata: { ...gone.metadata, deletionTimestamp: '2026-03-01T12:00:00Z' } },
      bound('theirs', { 'rollout.kuberik.com/substitute.APP.from': 'theirs', 'gate.fluxcd.io/gates': 'freeze' }),
      bound('free', { 'gate.fluxcd.io/gates': 'open' }),
      freeze('open', 'opened'),
      freeze('freeze', 'closed'),
    ];
    expect((await sync(rollout({}, deployed), [imagePolicy('1.1.0')], { objects })).tags).toEqual(['1.1.0', '1.0.0']);
  });

  it.each([
    ['are listed once before a deployment', '1.1.0', 'Succeeded', 1],
    ['are not listed for an apply, if every FluxBinding has its object’s Gates', '1.0.0', 'Deploying', 0],
  ])('%s', async (_, tag, bakeStatus, lists) => {
    const binding = bindingOf('prod', ['open']);
    const parent = rollout({}, { ...deployed, history: [{ ...deployed.history![0]!, bakeStatus }] });
    const objects = [bound('prod', { 'gate.fluxcd.io/gates': 'open' }), binding, freeze('open', 'opened')];
    const { reads, tags } = await sync(parent, [imagePolicy(tag), binding], { objects });
    expect(tags?.[0]).toBe(tag);
    for (const list of ['list gates', 'list gates team-a'])
      expect(reads.filter((read) => read === list)).toHaveLength(lists);
    expect(reads.filter((read) => read.startsWith('listMetadata'))).toHaveLength(3);
  });
});

function follows(release: AnyObject): AnyObject {
  const { annotations } = release.metadata;
  return {
    ...release,
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    metadata: { ...release.metadata, annotations: { ...annotations, 'rollout.kuberik.com/rollout': 'app' } },
  };
}
