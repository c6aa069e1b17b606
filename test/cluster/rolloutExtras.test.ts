/** What the documents promise beside deployments, odd statuses, and what `kubectl get` shows: on the real API server. */
import { describe, expect, it } from 'vitest';
import { send } from '../../dev/client/send.ts';
import { objectOf } from '../support/objects.ts';
import { type AnyObject, ref, rolloutGate, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { inSeconds, type Story, storyOf } from './support/rolloutStory.ts';
import { conditionOf, history } from './support/versions.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

async function deployed(spec: Record<string, unknown> = {}, tags = ['1.0.0']): Promise<Story> {
  const story = storyOf(view, await newNamespace());
  await story.publish(tags[0]!);
  await story.create(spec);
  for (const tag of tags) {
    await story.publish(tag);
    await story.headIs(tag, 'Succeeded');
  }
  return story;
}

/** A Rollout whose ImagePolicy has nothing yet, with a status by hand. */
async function seeded(status: Record<string, unknown>, spec: Record<string, unknown> = {}): Promise<Story> {
  const story = storyOf(view, await newNamespace());
  await admin.create(
    objectOf('ImagePolicy', {
      metadata: { name: 'app', namespace: story.ns },
      spec: { imageRepositoryRef: { name: 'app' }, policy: { semver: { range: '>=0.0.0' } } },
    }),
  );
  await story.create(spec);
  await story.conditionIs('Ready', { message: 'No releases available' });
  await admin.patchStatus(story.app, status);
  return story;
}

const entry = (tag: string, more: object = {}) => ({ version: { tag }, timestamp: '2026-01-02T12:00:00Z', ...more });
const isSaid = (story: Story, field: string, value: unknown) =>
  waitFor(
    async () => {
      expect((await story.statusOf())[field]).toEqual(value);
      return true;
    },
    `status.${field} to be ${JSON.stringify(value)}`,
  );

describe('status.currentVersion and pendingVersion', () => {
  it('say what is deployed and what waits', async () => {
    const story = await deployed();
    expect(await story.statusOf()).toMatchObject({ currentVersion: '1.0.0' });
    expect(await story.statusOf()).not.toHaveProperty('pendingVersion');
    await admin.create(rolloutGate(story.ns, 'qa', 'app', { passing: false }));
    await story.publish('1.1.0');
    await isSaid(story, 'pendingVersion', '1.1.0');
    expect((await story.statusOf()).currentVersion).toBe('1.0.0');
    await admin.remove(ref('rolloutGate', story.ns, 'qa'));
    await isSaid(story, 'currentVersion', '1.1.0');
    await isSaid(story, 'pendingVersion', undefined);
  });
});

describe('spec.releaseConfigMap', () => {
  it('holds the deployed version, follows it, and goes with the wish for it', async () => {
    const story = await deployed({ releaseConfigMap: { name: 'release' } });
    const data = (tag: string) => ({ tag, version: '', revision: '', digest: '' });
    const holds = (tag: string) =>
      waitFor(async () => {
        expect((await admin.get(ref('configMap', story.ns, 'release'))).data).toEqual(data(tag));
        return true;
      }, `the ConfigMap to hold ${tag}`);
    await holds('1.0.0');
    await story.publish('1.1.0');
    await holds('1.1.0');
    await admin.mergePatch(ref('configMap', story.ns, 'release'), { data: { tag: '6.6.6' } });
    await holds('1.1.0');
    await story.spec({ releaseConfigMap: null });
    await waitFor(async () => !(await admin.find(ref('configMap', story.ns, 'release'))), 'the ConfigMap to go');
  });

  it('has the digest that the ImagePolicy reflects', async () => {
    const story = storyOf(view, await newNamespace());
    const digest = `sha256:${'a'.repeat(64)}`;
    await view.publish(story.ns, 'app', '1.0.0', digest);
    await story.create({ releaseConfigMap: { name: 'release' } });
    await waitFor(async () => {
      return (await admin.find(ref('configMap', story.ns, 'release')))?.data?.digest === digest;
    }, 'the digest');
  });

  it('does not take over a ConfigMap that is not its own', async () => {
    const story = storyOf(view, await newNamespace());
    const mine = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'release', namespace: story.ns } };
    await admin.create({ ...mine, data: { mine: 'yes' } } as AnyObject);
    await story.publish('1.0.0');
    await story.create({ releaseConfigMap: { name: 'release' } });
    await story.headIs('1.0.0', 'Succeeded');
    await story.publish('1.1.0');
    await story.headIs('1.1.0', 'Succeeded');
    expect((await admin.get(ref('configMap', story.ns, 'release'))).data).toEqual({ mine: 'yes' });
    const ready = async () => conditionOf(await admin.get(ref('rollout', story.ns, 'app')), 'Ready');
    expect(await ready()).toMatchObject({
      status: 'False',
      message: expect.stringContaining("ConfigMap 'release' was not made for this Rollout and is left as it is"),
    });
    await admin.remove(mine);
    await story.publish('1.2.0');
    await waitFor(async () => (await admin.find(ref('configMap', story.ns, 'release')))?.data?.tag === '1.2.0', 'ours');
    expect(await ready()).toMatchObject({ status: 'True' });
  });
});

describe('RolloutGate.spec.rejectedVersions', () => {
  it('is never deployed while it is listed, by no hand either, and is told once', async () => {
    const story = await deployed();
    await admin.create(rolloutGate(story.ns, 'qa', 'app', { rejectedVersions: ['1.1.0'] }));
    await story.publish('1.1.0');
    await waitFor(async () => {
      expect((await story.statusOf()).rejectedReleases).toEqual([
        { tag: '1.1.0', gate: 'qa', timestamp: expect.any(String) },
      ]);
      return true;
    }, 'the rejection');
    expect((await story.statusOf()).releaseCandidates).toEqual([]);
    await story.ask({ 'bypass-gates': '1.1.0', 'force-deploy': '1.1.0' });
    await story.conditionIs('Ready', {
      status: 'False',
      reason: 'RolloutFailed',
      message: "version 1.1.0 is rejected by RolloutGate 'qa' and is not deployed",
    });
    await staysTrue(async () => (await story.head()).version.tag === '1.0.0', '1.0.0', 500);
    await story.publish('1.2.0');
    await story.ask({ 'bypass-gates': null, 'force-deploy': null });
    await story.headIs('1.2.0', 'Succeeded');
    // Recorded beside the sync.
    await waitFor(async () => {
      const told = (await story.events()).filter(({ reason }) => reason === 'ReleaseRejected');
      expect(told).toEqual([
        {
          reason: 'ReleaseRejected',
          type: 'Warning',
          message: "Version 1.1.0 is rejected by RolloutGate 'qa'",
          count: 1,
        },
      ]);
      return true;
    }, 'the rejection to be told');
  });

  it('that is taken off the list may be deployed', async () => {
    const story = await deployed();
    await admin.create(rolloutGate(story.ns, 'qa', 'app', { rejectedVersions: ['1.1.0'] }));
    await story.publish('1.1.0');
    await waitFor(async () => (await story.statusOf()).rejectedReleases?.length === 1, 'the rejection');
    await admin.mergePatch(ref('rolloutGate', story.ns, 'qa'), { spec: { rejectedVersions: null } });
    await story.headIs('1.1.0', 'Succeeded');
    await isSaid(story, 'rejectedReleases', undefined);
  });
});

describe('a release that the ImagePolicy was narrowed against', () => {
  it('is not deployed when the gate opens; the one that the policy selects now is', async () => {
    const story = await deployed();
    await admin.create(rolloutGate(story.ns, 'qa', 'app', { passing: false }));
    await story.publish('2.0.0');
    await isSaid(story, 'pendingVersion', '2.0.0');
    await admin.mergePatch(ref('imagePolicy', story.ns, 'app'), { spec: { policy: { semver: { range: '<2.0.0' } } } });
    await story.publish('1.9.0');
    await isSaid(story, 'pendingVersion', '1.9.0');
    await isSaid(story, 'withdrawnReleases', [{ tag: '2.0.0', reason: "2.0.0 is not in the policy's range '<2.0.0'" }]);
    await admin.remove(ref('rolloutGate', story.ns, 'qa'));
    await story.headIs('1.9.0', 'Succeeded');
    await staysTrue(async () => (await story.head()).version.tag === '1.9.0', '1.9.0', 500);
    await story.ask({ 'force-deploy': '2.0.0' });
    await story.headIs('2.0.0', 'Succeeded');
  });
});

describe('spec.releaseUpdateInterval', () => {
  it('takes a new release only after the interval since the last one, and then the newest', async () => {
    const story = await deployed({ releaseUpdateInterval: '4s' });
    const { lastReleaseUpdate } = await story.statusOf();
    await story.publish('1.1.0');
    await story.publish('1.2.0');
    await staysTrue(async () => (await story.statusOf()).availableReleasesCount === 1, 'one known release', 1000);
    await story.headIs('1.2.0', 'Succeeded');
    const after = await story.statusOf();
    expect(after.availableReleases.map(({ tag }: { tag: string }) => tag)).toEqual(['1.0.0', '1.2.0']);
    expect(Date.parse(after.lastReleaseUpdate) - Date.parse(lastReleaseUpdate)).toBeGreaterThanOrEqual(4000);
  });
});

describe('history and releases', () => {
  /** As many deployments, the newest first, of versions that nobody has any more. */
  const earlier = (count: number) =>
    Array.from({ length: count }, (_, index) => entry('old', { id: count - index, bakeStatus: 'Succeeded' }));

  it('are kept as versionHistoryLimit says, never fewer than ten; ids go on', async () => {
    const story = await seeded(
      { history: [entry('0.9.0', { id: 9 }), ...earlier(8)], availableReleases: [{ tag: '0.9.0' }, { tag: '1.0.0' }] },
      { versionHistoryLimit: 2 },
    );
    await story.headIs('1.0.0', { id: 10 });
    await story.publish('1.1.0');
    await story.headIs('1.1.0', { id: 11 });
    const ids = (await history(admin, story.ns, 'app')).map(([id]) => id);
    expect(ids).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  });

  it('releases are forgotten once they are neither in history, nor young, nor among the newest few', async () => {
    const day = 86_400_000;
    const aged = (tag: string, days: number) => ({ tag, created: inSeconds(Date.now() - days * day) });
    const story = await seeded(
      {
        availableReleases: [aged('0.1.0', 30), aged('0.2.0', 20), aged('0.3.0', 10), aged('0.4.0', 1)],
        history: [entry('0.3.0', { id: 11, bakeStatus: 'Succeeded' }), ...earlier(10)],
      },
      { versionHistoryLimit: 1, availableReleasesRetentionDays: 7, availableReleasesMinCount: 1 },
    );
    await story.headIs('0.4.0', { id: 12 });
    expect((await story.statusOf()).availableReleases.map(({ tag }: { tag: string }) => tag)).toEqual([
      '0.3.0',
      '0.4.0',
    ]);
  });
});

describe('a status written by hand', () => {
  it('without ids is taken as it is; the next deployment is number 1 and later ones count on', async () => {
    const story = await seeded({
      history: [entry('1.0.0'), entry('0.9.0')],
      availableReleases: [{ tag: '0.9.0' }, { tag: '1.0.0' }, { tag: '1.1.0' }],
    });
    await story.headIs('1.1.0', { id: 1 });
    await story.publish('1.2.0');
    await story.headIs('1.2.0', { id: 2 });
    expect((await history(admin, story.ns, 'app')).map(([, tag]) => tag)).toEqual(['1.2.0', '1.1.0', '1.0.0', '0.9.0']);
  });

  it('with an unknown bakeStatus does not stop automation', async () => {
    const story = await seeded(
      {
        history: [entry('1.0.0', { id: 3, bakeStatus: 'Marinating' })],
        availableReleases: [{ tag: '1.0.0' }],
      },
      { bakeTime: '1s' },
    );
    await story.publish('1.1.0');
    await story.headIs('1.1.0', { id: 4, bakeStatus: 'Succeeded' });
    expect((await story.statusOf()).history[1].bakeStatus).toBe('Marinating');
  });

  it('with a deployed tag that nobody knows still goes forward by the order of the policy, never back', async () => {
    const story = await seeded({
      history: [entry('5.0.0', { id: 1, bakeStatus: 'Succeeded' })],
      availableReleases: [{ tag: '1.0.0' }, { tag: '2.0.0' }],
    });
    await isSaid(story, 'currentVersion', '5.0.0');
    await staysTrue(async () => (await story.head()).version.tag === '5.0.0', '5.0.0', 1000);
    await story.publish('5.0.1');
    await story.headIs('5.0.1', { id: 2 });
  });

  it('with times in the future neither fails nor bakes at once, and a hand gets on', async () => {
    const future = inSeconds(Date.now() + 365 * 86_400_000);
    const story = await seeded(
      {
        history: [
          { id: 1, version: { tag: '1.0.0' }, timestamp: future, bakeStatus: 'InProgress', bakeStartTime: future },
        ],
        availableReleases: [{ tag: '1.0.0' }],
      },
      { bakeTime: '1s', deployTimeout: '1s' },
    );
    await isSaid(story, 'currentVersion', '1.0.0');
    await staysTrue(async () => (await story.head()).bakeStatus === 'InProgress', 'InProgress', 1500);
    await story.spec({ wantedVersion: '1.1.0' });
    await story.headIs('1.1.0', { id: 2, bakeStatus: 'Succeeded' });
    expect((await story.statusOf()).history[1].bakeStatus).toBe('Cancelled');
  });

  it('with 10,000 available releases works as with three', async () => {
    const availableReleases = Array.from({ length: 10_000 }, (_, i) => ({ tag: `1.${i}.0` }));
    const story = await seeded({
      history: [entry('1.9998.0', { id: 1, bakeStatus: 'Succeeded' })],
      availableReleases,
    });
    await story.headIs('1.9999.0', { id: 2 });
    await story.publish('1.10000.0');
    await story.headIs('1.10000.0', { id: 3 });
    // What a status keeps has a limit: docs/security.md.
    expect((await story.statusOf()).availableReleasesCount).toBe(1000);
  });

  it('with an entry of a megabyte goes on', async () => {
    const story = await seeded({
      history: [entry('1.0.0', { id: 1, bakeStatus: 'Failed', bakeStatusMessage: 'x'.repeat(900_000) })],
      availableReleases: [{ tag: '1.0.0' }],
    });
    await isSaid(story, 'currentVersion', '1.0.0');
    await story.publish('1.1.0');
    await story.headIs('1.1.0', { id: 2 });
  });
});

describe('kubectl get rollouts', () => {
  async function row(story: Story): Promise<Record<string, unknown>> {
    const { object: table } = await send(
      admin.access,
      'GET',
      `/apis/kuberik.com/v1alpha1/namespaces/${story.ns}/rollouts`,
      { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
    );
    const names: string[] = table.columnDefinitions.map(({ name }: { name: string }) => name);
    return Object.fromEntries(names.map((name, i) => [name, table.rows[0].cells[i]]));
  }

  it('tells the state at a glance', async () => {
    const story = await deployed();
    await admin.create(rolloutGate(story.ns, 'qa', 'app', { passing: false }));
    await story.publish('1.1.0');
    await story.conditionIs('GatesPassing', { status: 'False' });
    await isSaid(story, 'pendingVersion', '1.1.0');
    expect(await row(story)).toMatchObject({
      Name: 'app',
      Version: '1.0.0',
      Message: 'Automatic deployment',
      BakeStatus: 'Succeeded',
      Gates: 'False',
      Available: 2,
      Ready: 'True',
      Status: 'Release deployed successfully. Bake completed successfully',
      Pending: '1.1.0',
    });
  });

  it('shows a number where nothing is available', async () => {
    const story = await seeded({});
    expect(await row(story)).toMatchObject({ Available: 0, Ready: 'False', Status: 'No releases available' });
  });
});
