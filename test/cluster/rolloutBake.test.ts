/** The life of a deployment: written, arrived, healthy, baked; or failed, cancelled, retried. Times are real and short. */
import { describe, expect, it } from 'vitest';
import { sharedCluster, staysTrue } from './support/cluster.ts';
import { nextSecond, SELECTS_HEALTH, secondsOf, storyOf } from './support/rolloutStory.ts';
import { tagArrives, variablesArrive } from './support/versions.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

describe('a bake', () => {
  it('starts when every bound object has proof of arrival and health is newer, and lasts its bakeTime', async () => {
    const story = storyOf(view, await newNamespace());
    await story.watch();
    await story.bind();
    await story.create({ bakeTime: '3s', ...SELECTS_HEALTH });
    await story.publish('1.0.0');
    await story.headIs('1.0.0', 'Deploying');
    await tagArrives(admin, story.ns, 'app', '1.0.0');
    await story.healthReset();

    await nextSecond();
    await story.report('Healthy');
    const deploys = async () => (await story.head()).bakeStatus === 'Deploying';
    await staysTrue(deploys, 'Deploying while Flux has done nothing', 1500);
    await story.flux.fetch(story.ns, 'app');
    await variablesArrive(admin, story.ns, 'app', { APP_VERSION: '1.0.0' });
    await staysTrue(deploys, 'Deploying while it is fetched and not applied', 1000);
    await story.flux.apply(story.ns, 'app');
    await story.headIs('1.0.0', { bakeStatus: 'Deploying', appliedTime: expect.any(String) });
    await story.healthReset();
    await staysTrue(deploys, 'Deploying while health is older than the arrival', 1000);

    await story.report('Healthy');
    const started = await story.headIs('1.0.0', 'InProgress');
    expect(started.bakeStatusMessage).toBe('Bake started, monitoring for errors.');
    expect(secondsOf(started.bakeStartTime)).toBeGreaterThanOrEqual(secondsOf(started.appliedTime));
    const done = await story.headIs('1.0.0', 'Succeeded');
    expect(done.bakeStartTime).toBe(started.bakeStartTime);
    expect(secondsOf(done.bakeEndTime) - secondsOf(done.bakeStartTime)).toBeGreaterThanOrEqual(3);
    expect(done.bakeStatusMessage).toBe('Bake time completed successfully (no errors within bake time).');
    await story.conditionIs('Ready', { status: 'True', reason: 'BakeTimePassed', message: done.bakeStatusMessage });
  });
});
