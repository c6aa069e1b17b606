/** The Events of a Rollout: reasons and words that clients of the Go controller read, one for each change. */
import { describe, expect, it } from 'vitest';
import { sharedCluster, waitFor } from './support/cluster.ts';
import { storyOf } from './support/rolloutStory.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

describe('Events', () => {
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
