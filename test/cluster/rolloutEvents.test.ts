/** The Events of a Rollout: reasons and words that clients of the Go controller read, one for each change. */
import { describe, expect, it } from 'vitest';
import { ref, rolloutGate, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { nextSecond, SELECTS_HEALTH, type Story, storyOf } from './support/rolloutStory.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

async function deployed(): Promise<Story> {
  const story = storyOf(view, await newNamespace());
  await story.publish('1.0.0');
  await story.create();
  await story.headIs('1.0.0', 'Succeeded');
  return story;
}

describe('Events', () => {
  /** Reasons with how often, and no more of them a second later. */
  async function reasonsAre(story: Story, expected: Record<string, number>): Promise<void> {
    const count = async () => {
      const all = await story.events();
      expect(all.every((event) => event.count === 1)).toBe(true);
      return Object.fromEntries(
        Object.entries(Object.groupBy(all, ({ reason }) => reason)).map(([reason, list]) => [reason, list!.length]),
      );
    };
    await waitFor(
      async () => {
        expect(await count()).toEqual(expected);
        return true;
      },
      `the events ${JSON.stringify(expected)}`,
    );
    // Something that is synced again and changes nothing tells nothing.
    await admin.mergePatch(story.app, { metadata: { labels: { touched: 'yes' } } });
    await staysTrue(
      async () => {
        expect(await count()).toEqual(expected);
        return true;
      },
      'no more events',
      1000,
    );
  }

  it('tell of a deployment and its bake, each step once', async () => {
    const story = storyOf(view, await newNamespace());
    await story.watch();
    await story.publish('1.0.0');
    await story.create({ bakeTime: '1s', ...SELECTS_HEALTH });
    await story.headIs('1.0.0', 'Deploying');
    await story.healthReset();
    await story.report('Healthy');
    await story.headIs('1.0.0', 'Succeeded');
    await reasonsAre(story, {
      AllGatesPassing: 1,
      DeploymentSucceeded: 1,
      BakeTimeDeploying: 1,
      BakeTimeStarted: 1,
      BakeTimePassed: 1,
    });
    expect(await story.events()).toEqual(
      expect.arrayContaining([
        { reason: 'DeploymentSucceeded', type: 'Normal', message: 'Successfully deployed version 1.0.0', count: 1 },
        {
          reason: 'BakeTimeDeploying',
          type: 'Normal',
          message: 'Bake time deploying, waiting for health checks to become healthy before starting bake.',
          count: 1,
        },
        { reason: 'BakeTimeStarted', type: 'Normal', message: 'Bake time started, monitoring for errors.', count: 1 },
      ]),
    );
  });

  it('are listed in the order in which they happened, those of one second too', async () => {
    const story = storyOf(view, await newNamespace());
    await story.publish('1.0.0');
    await story.create({ bakeTime: '1s' });
    await story.headIs('1.0.0', 'Succeeded');
    await waitFor(async () => (await story.events()).length === 5, 'five events');
    // As kubectl sorts: by the second, and otherwise as the API server lists them.
    const listed = await admin.list('v1', 'Event', story.ns);
    const sorted = listed.toSorted((a, b) => Date.parse(a.lastTimestamp) - Date.parse(b.lastTimestamp));
    expect(sorted.map(({ reason }) => reason)).toEqual([
      'AllGatesPassing',
      'DeploymentSucceeded',
      'BakeTimeDeploying',
      'BakeTimeStarted',
      'BakeTimePassed',
    ]);
  });

  it('tell of failure, retry, a blocking check, cancellation', async () => {
    const story = storyOf(view, await newNamespace());
    await story.watch();
    await story.publish('1.0.0');
    await story.create({ bakeTime: '10m', onFailure: 'Hold', ...SELECTS_HEALTH });
    await story.headIs('1.0.0', 'Deploying');
    await story.healthReset();
    const beginning = { AllGatesPassing: 1, DeploymentSucceeded: 1, BakeTimeDeploying: 1 };
    await story.report('Unhealthy');
    await story.headIs('1.0.0', 'Failed');
    await reasonsAre(story, { ...beginning, BakeTimeFailed: 1 });

    await story.publish('1.1.0');
    await reasonsAre(story, { ...beginning, BakeTimeFailed: 1, HealthCheckBlocking: 1 });
    await nextSecond();
    await story.ask({ retry: '' });
    await story.headIs('1.0.0', 'Deploying');
    await story.healthReset();
    await nextSecond();
    await story.report('Unhealthy');
    await story.headIs('1.0.0', 'Failed');
    const failedTwice = { ...beginning, BakeTimeFailed: 2, RetryRequested: 1 };
    await waitFor(async () => {
      const reasons = (await story.events()).map(({ reason }) => reason);
      return reasons.filter((reason) => reason === 'BakeTimeFailed').length === 2;
    }, 'the second failure to be told');

    await story.spec({ wantedVersion: '1.1.0' });
    await story.headIs('1.1.0', 'Deploying');
    await story.spec({ wantedVersion: '1.2.0' });
    await story.headIs('1.2.0', 'Deploying');
    await waitFor(async () => {
      const reasons = (await story.events()).map(({ reason }) => reason);
      return reasons.includes('BakeTimeCancelled');
    }, 'the cancellation to be told');
    const events = await story.events();
    const countOf = (reason: string) => events.filter((event) => event.reason === reason).length;
    expect(Object.fromEntries(Object.keys(failedTwice).map((reason) => [reason, countOf(reason)]))).toEqual({
      ...failedTwice,
      DeploymentSucceeded: 3,
      BakeTimeDeploying: 3,
    });
    expect(events.find(({ reason }) => reason === 'BakeTimeCancelled')?.message).toBe(
      'Bake time cancelled due to new deployment of version 1.2.0',
    );
  });

  it('tell of gates when their answer changes, not at each sync', async () => {
    const story = await deployed();
    await admin.create(rolloutGate(story.ns, 'qa', 'app', { passing: false }));
    await story.conditionIs('GatesPassing', { reason: 'SomeGatesBlocking' });
    await story.publish('1.1.0');
    await waitFor(async () => (await story.statusOf()).pendingVersion === '1.1.0', 'the candidate');
    await admin.mergePatch(ref('rolloutGate', story.ns, 'qa'), { spec: { passing: true, allowedVersions: [] } });
    await story.conditionIs('GatesPassing', { reason: 'NoAllowedVersions' });
    await admin.mergePatch(ref('rolloutGate', story.ns, 'qa'), { spec: { allowedVersions: ['1.1.0'] } });
    await story.headIs('1.1.0', 'Succeeded');
    await reasonsAre(story, {
      AllGatesPassing: 2,
      SomeGatesBlocking: 1,
      NoAllowedVersions: 1,
      // Once for each reason why.
      WaitingForRolloutGates: 2,
      DeploymentSucceeded: 2,
    });
  });
});
