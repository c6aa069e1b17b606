/** The Events of a Rollout: reasons and words that clients of the Go controller read, one for each change. */
import { describe, expect, it } from 'vitest';
import { sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { SELECTS_HEALTH, type Story, storyOf } from './support/rolloutStory.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

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
});
