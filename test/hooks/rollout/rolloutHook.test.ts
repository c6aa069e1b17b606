import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { RolloutStatus } from '../../../api/types.ts';
import { LIMITS } from '../../../core/limits.ts';
import { formatDeployments } from '../../../core/managedField/deployment.ts';
import { rolloutHook } from '../../../hooks/rollout/rolloutHook.ts';
import { namespaceOf } from '../../support/objects.ts';
import { fakeCall, imagePolicy, object, request, rollout } from './call.ts';
import { deployed, freeze, gate, rules, sync } from './sync.ts';

describe('objects of other namespaces', () => {
  const spec = { bakeTime: '5m', healthCheckSelector: { selector: {}, namespaceSelector: {} } };
  const settled: RolloutStatus = { ...deployed, history: [{ ...deployed.history![0]!, bakeStatus: 'Deploying' }] };
  const theirs = (name: string, namespace: string, watchedFrom?: string) => {
    const check = object('kuberik.com/v1alpha1', 'HealthCheck', name, {}, { status: 'Unhealthy', message: 'secret' });
    const annotations: Record<string, string> =
      watchedFrom === undefined ? {} : { 'healthcheck.kuberik.com/watched-from': watchedFrom };
    return { ...check, metadata: { name, namespace, annotations } };
  };
  const namespace = (name: string, watchedFrom = '') =>
    namespaceOf(name, { annotations: { 'healthcheck.kuberik.com/watched-from': watchedFrom } });
  const said = (status: RolloutStatus, type: string) => status.conditions?.find((c) => c.type === type);

  it.each([
    {
      title: 'nobody',
      checks: [theirs('a', 'b'), theirs('a', 'c', 'team-b')],
      leftOut: '2 HealthChecks of other namespaces are',
    },
    {
      title: 'one of two HealthChecks',
      checks: [theirs('a', 'b', 'x, team-a'), theirs('b', 'b')],
      leftOut: '1 HealthCheck of another namespace is',
      seen: 'a',
    },
    { title: 'the namespace', checks: [theirs('a', 'willing')], seen: 'a' },
    { title: 'everybody', checks: [theirs('a', 'b', '*')], seen: 'a' },
    {
      title: 'nobody, where no consent is asked for',
      checks: [theirs('a', 'b')],
      seen: 'a',
      settings: { watchWithoutConsent: true },
    },
  ])('watches HealthChecks that $title allows, and reports the others', async ({ checks, leftOut, seen, settings }) => {
    const objects = [namespace('willing', 'team-a'), namespace('b', 'team-b'), namespace('c'), ...checks];
    const { status, resyncAfterSeconds } = await sync(rollout(spec, settled), [imagePolicy('1.0.0')], {
      objects,
      settings,
    });
    expect(resyncAfterSeconds).toBe(seen ? 10 : 60);
    const left = said(status, 'HealthChecksLeftOut');
    if (!leftOut) expect(left).toBeUndefined();
    else
      expect(left).toMatchObject({
        status: 'True',
        reason: 'NotAllowed',
        message: `${leftOut} selected but not watched: to allow it, set the annotation healthcheck.kuberik.com/watched-from: team-a on the object or on its namespace`,
      });
    expect(JSON.stringify(status).includes('secret')).toBe(seen !== undefined);
    expect(status.history?.[0]?.bakeStatus).toBe(seen ? 'Deploying' : 'InProgress');
  });

  it('a HealthCheck of another namespace need not be newer than the deployment: no reset reaches it', async () => {
    const old = { ...theirs('a', 'b', '*'), status: { status: 'Healthy', lastChangeTime: '2026-01-01T00:00:00Z' } };
    const objects = [namespace('b'), old];
    const { status } = await sync(rollout(spec, settled), [imagePolicy('1.0.0')], { objects });
    expect(status.history?.[0]?.bakeStatus).toBe('InProgress');
  });

  const checks = (count: number, where: (i: number) => string, watchedFrom?: string) =>
    Array.from({ length: count }, (_, i) => theirs(`check-${i}`, where(i), watchedFrom));
  const fullReads = (reads: string[]) => reads.filter((read) => read.startsWith('get healthchecks'));

  it('a HealthCheck that does not consent is never read in full', async () => {
    const objects = [namespace('b'), ...checks(500, () => 'b')];
    const { status, tags, reads } = await sync(rollout(spec, deployed), [imagePolicy('1.1.0')], { objects });
    expect(tags).toEqual(['1.1.0', '1.0.0']);
    expect(said(status, 'HealthChecksLeftOut')?.message).toContain('500 HealthChecks of other namespaces');
    expect(fullReads(reads)).toEqual([]);
  });

  it.each([
    ['consent in other namespaces', [namespace('b'), ...checks(LIMITS.watchedHealthChecks + 1, () => 'b', '*')], []],
    ['are in its own', [], checks(LIMITS.watchedHealthChecks + 1, () => 'team-a')],
  ])(
    'a Rollout for which more HealthChecks than one may watch %s deploys nothing, and says so',
    async (_, objects, own) => {
      const everywhere = [namespace('team-a'), ...objects];
      const { status, tags, reads } = await sync(rollout(spec, deployed), [imagePolicy('1.1.0'), ...own], {
        objects: everywhere,
      });
      expect(tags).toEqual(['1.0.0']);
      expect(said(status, 'Ready')).toMatchObject({
        reason: 'RolloutFailed',
        message: expect.stringContaining('201 HealthChecks, more than 200 (limit watchedHealthChecks)'),
      });
      expect(fullReads(reads)).toEqual([]);
    },
  );

  it('a namespace of more HealthChecks than are listed takes no place of another, unless there are too many namespaces', async () => {
    const many = checks(LIMITS.listedHealthChecks + 1, () => 'b');
    const objects = [namespace('b'), namespace('z'), ...many, theirs('down', 'z', '*')];
    const { status } = await sync(rollout(spec, settled), [imagePolicy('1.0.0')], { objects });
    expect(JSON.stringify(status)).toContain('secret');
    const more = Array.from({ length: LIMITS.watchedNamespaces }, (_, i) => namespace(`ns-${i}`));
    const closed = await sync(rollout(spec, deployed), [imagePolicy('1.1.0')], { objects: [...objects, ...more] });
    expect(closed.tags).toEqual(['1.0.0']);
    expect(said(closed.status, 'Ready')?.message).toContain('limit watchedNamespaces');
  });

  it('HealthChecks of its own namespace count only if the namespaceSelector selects it', async () => {
    const down = theirs('down', 'team-a');
    const objects = [namespace('b')];
    expect(JSON.stringify(await sync(rollout(spec, settled), [imagePolicy('1.0.0'), down], { objects }))).not.toContain(
      'secret',
    );
  });

  it('nothing of another namespace is followed where that is forbidden, and nothing is deployed', async () => {
    const foreign = {
      releasesImagePolicy: { name: 'policy', namespace: 'other' },
      gates: [{ name: 'own' }, { name: 'theirs', namespace: 'other' }],
      healthCheckSelector: spec.healthCheckSelector,
    };
    const settings = { noCrossNamespaceRefs: true };
    const related = [
      theirs('a', 'b', '*'),
      { ...imagePolicy('1.1.0'), metadata: { name: 'policy', namespace: 'other' } },
    ];
    const { status, tags, reads } = await sync(rollout(foreign, deployed), related, { settings });
    expect(tags).toEqual(['1.0.0']);
    expect(reads).toEqual([]);
    expect(JSON.stringify(status)).not.toContain('secret');
    const { message } = said(status, 'Ready')!;
    for (const path of ['releasesImagePolicy.namespace', 'gates[1].namespace', 'healthCheckSelector.namespaceSelector'])
      expect(message).toContain(`spec.${path}`);
    expect(message).toContain('are forbidden (NO_CROSS_NAMESPACE_REFS)');
    const asked = await rules(foreign, { settings });
    expect(asked).not.toHaveProperty('imagepolicies');
    expect(asked.gates).toMatchObject({ namespace: 'team-a', names: ['own'] });
    expect(asked.healthchecks).toMatchObject({ namespace: 'team-a' });
  });
});

describe('sync', () => {
  it('reads nothing live while there is nothing to deploy', async () => {
    const { reads, status } = await sync(rollout({}, deployed), [imagePolicy('1.0.0')]);
    expect(reads).toEqual([]);
    expect(status.currentVersion).toBe('1.0.0');
  });

  it('does not deploy if a RolloutGate blocks that its cache doesn’t have yet', async () => {
    const { tags, status } = await sync(rollout({}, deployed), [imagePolicy('1.1.0')], {
      objects: [gate('new', { passing: false })],
    });
    expect(tags).toEqual(['1.0.0']);
    expect(status.gates).toMatchObject([{ name: 'new', passing: false }]);
  });

  it('does not deploy if a Gate has just closed, its own or one of a bound object', async () => {
    const binding = object('kuberik.com/v1alpha1', 'FluxBinding', 'b', {
      target: { apiVersion: 'v1', kind: 'Kustomization', name: 'app', uid: 'u' },
      fields: [{ rollout: 'app' }],
      gates: [{ namespace: 'team-a', gate: 'of-object' }],
    });
    const { tags, status, reads, resyncAfterSeconds } = await sync(
      rollout({ gates: [{ name: 'own' }] }, deployed),
      [imagePolicy('1.1.0'), freeze('own', 'opened'), binding],
      { objects: [freeze('own', 'closed'), freeze('of-object', 'closed')] },
    );
    expect(tags).toEqual(['1.0.0']);
    expect(reads).toEqual([
      'list gates',
      'list gates team-a',
      'list rolloutgates team-a spec.rolloutRef.name=app',
      'get gates team-a of-object',
      'get gates team-a own',
      'list clusterrolloutbudgets',
      'list rolloutbudgets team-a',
      'get imagepolicies team-a policy',
    ]);
    const blocked = status.conditions?.find(({ type }) => type === 'DeploymentBlocked');
    expect(blocked?.message).toContain("Gate 'team-a/of-object' is closed");
    expect(blocked?.message).toContain("Gate 'team-a/own' is closed");
    expect(resyncAfterSeconds).toBe(15);
  });

  it('relates no Gates beyond the limit: they count as one closed Gate', async () => {
    const bindings = Array.from({ length: 3 }, (_, i) =>
      object('kuberik.com/v1alpha1', 'FluxBinding', `b${i}`, {
        target: { apiVersion: 'v1', kind: 'Kustomization', name: `app-${i}`, uid: 'u' },
        fields: [{ rollout: 'app' }],
        gates: Array.from({ length: 100 }, (_, n) => ({ namespace: 'team-a', gate: `g-${i}-${n}` })),
      }),
    );
    const { tags, status, reads } = await sync(rollout({}, deployed), [imagePolicy('1.1.0'), ...bindings]);
    expect(tags).toEqual(['1.0.0']);
    expect(reads).not.toContainEqual(expect.stringContaining('get gates'));
    const blocked = status.conditions?.find(({ type }) => type === 'DeploymentBlocked');
    expect(blocked?.message).toMatch(/^Version 1\.1\.0 waits: the object requires too many Gates/);
  });

  it.each<[string, (live: ReturnType<typeof rollout>) => void]>([
    [
      'pinned and frozen',
      (live) => Object.assign(live, { spec: { ...live.spec, wantedVersion: '1.0.0', gates: [{ name: 'closed' }] } }),
    ],
    ['asked for nothing any more', (live) => Object.assign(live.metadata, { annotations: {} })],
    ['deleted and made again', (live) => Object.assign(live.metadata, { uid: 'another', generation: 1 })],
    ['being deleted', (live) => Object.assign(live.metadata, { deletionTimestamp: '2026-03-01T12:00:00Z' })],
    ['deployed by somebody else', (live) => Object.assign(live, { status: { ...deployed, revision: 8 } })],
  ])('deploys nothing from a cached Rollout that has meanwhile been %s', async (_title, change) => {
    const cached = rollout({}, deployed);
    cached.metadata.annotations = { 'rollout.kuberik.com/deploy-message': 'go' };
    const live = structuredClone(cached);
    live.metadata.generation = 2;
    change(live);
    const answer = sync(cached, [imagePolicy('1.1.0')], { objects: [freeze('closed', 'closed')] }, live);
    await expect(answer).rejects.toMatchObject({
      status: 429,
      retryAfterSeconds: 1,
      message: expect.stringContaining("sent an older Rollout 'team-a/app'"),
    });
  });

  const carrying = object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'app', {});
  carrying.metadata.annotations = {
    'rollout.kuberik.com/substitute.V.from': 'app',
    'rollout.kuberik.com/deployed': formatDeployments([{ rollout: 'app', uid: 'old', id: 3, version: '0.9.0' }]),
  };

  it('adopts the version that its objects carry, behind a closed Gate too', async () => {
    const spec = { target: { kind: 'Kustomization', name: 'app' }, fields: [{ rollout: 'app' }] };
    const related = [object('kuberik.com/v1alpha1', 'FluxBinding', 'kustomization-app', spec), freeze('f', 'closed')];
    const held = rollout({ gates: [{ name: 'f' }] });
    expect((await sync(held, related, { objects: [carrying, freeze('f', 'closed')] })).tags).toEqual(['0.9.0']);
  });

  it('deploys nothing from a cached Rollout that is gone, an adopted version neither', async () => {
    const gone = { ...rollout({}), metadata: { name: 'other', namespace: 'team-a' } };
    await expect(sync(rollout({}), [imagePolicy('1.0.0')], {}, gone)).rejects.toMatchObject({ status: 429 });
    const again = sync(rollout({}), [imagePolicy('1.0.0')], { objects: [carrying] }, gone);
    await expect(again).rejects.toMatchObject({ status: 429 });
  });

  it('fails when the live read fails: Metacontroller retries', async () => {
    await expect(sync(rollout({}, deployed), [imagePolicy('1.1.0')], { fails: true })).rejects.toThrow(
      'does not answer',
    );
  });

  it('reads an ImagePolicy live that a customize answer is too old to name', async () => {
    const { tags, reads } = await sync(rollout({}), [], { objects: [imagePolicy('1.0.0')] });
    expect(reads[0]).toBe('get imagepolicies team-a policy');
    expect(tags).toEqual(['1.0.0']);
  });

  it('understands an ImagePolicy of v1beta2 that names image and tag in one text', async () => {
    const policy = imagePolicy('', 'image.toolkit.fluxcd.io/v1beta2');
    policy.status = { latestImage: 'registry.example:5000/app:1.0.0' };
    expect((await sync(rollout({}), [policy])).tags).toEqual(['1.0.0']);
  });

  it('reads annotations of deployments only before a first one, and bound objects before each', async () => {
    const carried = ['listMetadata kustomizations team-a', 'listMetadata ocirepositories team-a'];
    const readForGates = [
      'list gates',
      'list gates team-a',
      'list rolloutgates team-a spec.rolloutRef.name=app',
      'list clusterrolloutbudgets',
      'list rolloutbudgets team-a',
      'get imagepolicies team-a policy',
      'listMetadata kustomizations team-a',
      'listMetadata helmreleases team-a',
      'listMetadata ocirepositories team-a',
      'get rollouts team-a app',
    ];
    expect((await sync(rollout({}), [imagePolicy('1.0.0')])).reads).toEqual([...carried, ...readForGates]);
    expect((await sync(rollout({}, deployed), [imagePolicy('1.1.0')])).reads).toEqual(readForGates);
  });

  describe('spec.releaseConfigMap', () => {
    const wish = () => rollout({ releaseConfigMap: { name: 'release' } }, deployed);
    const configMap = (owner?: string) => ({
      ...object('v1', 'ConfigMap', 'release', {}),
      metadata: {
        name: 'release',
        namespace: 'team-a',
        ...(owner && {
          ownerReferences: [
            { apiVersion: 'kuberik.com/v1alpha1', kind: 'Rollout', name: 'app', uid: owner, controller: true },
          ],
        }),
      },
    });
    const READ = 'get configmaps team-a release';

    it.each([
      { title: 'is not there yet', found: [] },
      { title: 'was just made and is not in the cache', found: [configMap('uid-of-app')] },
    ])('is made when it $title', async ({ found }) => {
      const answer = await sync(wish(), [imagePolicy('1.0.0')], { objects: found });
      expect(answer.children).toMatchObject([{ metadata: { name: 'release' }, data: { tag: '1.0.0' } }]);
      expect(answer.reads).toEqual([READ]);
    });

    it.each([
      { title: 'of somebody', found: configMap() },
      { title: 'of another Rollout', found: configMap('uid-of-other') },
    ])('is not asked for when there is one $title, and Ready says so', async ({ found }) => {
      const answer = await sync(wish(), [imagePolicy('1.0.0')], { objects: [found] });
      expect(answer.children).toEqual([]);
      expect(answer.status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
        status: 'False',
        reason: 'RolloutFailed',
        message: expect.stringContaining("ConfigMap 'release' exists but does not belong to this Rollout"),
      });
      const object = { kind: 'ConfigMap', namespace: 'team-a', name: 'release' };
      expect(answer.status.blockers).toEqual([
        { type: 'Problem', effect: 'Blocks', reason: 'RolloutFailed', version: '1.0.0', object },
      ]);
      expect(answer.reasons).toContain('RolloutFailed');
      expect(answer.resyncAfterSeconds).toBe(30);
    });

    it('is not kept, as Ready reports, if the installation has no ConfigMaps', async () => {
      const parent = wish();
      const { call, reads } = fakeCall();
      const answer = await rolloutHook.sync({ ...request(parent, [imagePolicy('1.0.0')]), children: {} }, call);
      expect(answer.children).toEqual([]);
      const ready = (answer.status as RolloutStatus).conditions?.find(({ type }) => type === 'Ready');
      expect(ready).toMatchObject({
        status: 'False',
        reason: 'RolloutFailed',
        message: expect.stringContaining("ConfigMap 'release' is not written: the component"),
      });
      expect(reads).toEqual([]);
      const other = await rolloutHook.sync(
        { ...request(rollout({}, deployed), [imagePolicy('1.0.0')]), children: {} },
        call,
      );
      expect((other.status as RolloutStatus).conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    });

    it('is not read when it is among the children, nor when the Rollout is deleted', async () => {
      const { call, reads } = fakeCall();
      const children = { 'ConfigMap.v1': { 'team-a/release': configMap('uid-of-app') } };
      await rolloutHook.sync({ ...request(wish(), [imagePolicy('1.0.0')]), children }, call);
      const going = wish();
      going.metadata.deletionTimestamp = '2026-03-01T12:00:00Z';
      await rolloutHook.sync(request(going, [imagePolicy('1.0.0')]), call);
      expect(reads).toEqual([]);
    });
  });

  it('leaves a Rollout that is being deleted as it is', async () => {
    const going = rollout({}, deployed);
    going.metadata.deletionTimestamp = '2026-03-01T12:00:00Z';
    const { status, reads } = await sync(going, [imagePolicy('1.1.0')]);
    expect(status).toEqual(deployed);
    expect(reads).toEqual([]);
  });

  it('gives Events keys that a repeated sync repeats', async () => {
    const keys = async () => {
      const parent = rollout({}, deployed);
      const { call, events } = fakeCall({ objects: [parent as KubeObject<any, any>, imagePolicy('1.1.0')] });
      await rolloutHook.sync(request(parent, [imagePolicy('1.1.0')]), call);
      return events.map(({ key }) => key);
    };
    const first = await keys();
    expect(first).toContain('uid-of-app/DeploymentSucceeded/2');
    expect(await keys()).toEqual(first);
  });
});
