/** The life of a deployment: written, arrived, healthy, baked; or failed, cancelled, retried. Times are real and short. */
import { describe, expect, it } from 'vitest';
import { ref, sharedCluster, staysTrue } from './support/cluster.ts';
import { healthCheck, nextSecond, SELECTS_HEALTH, secondsOf, storyOf } from './support/rolloutStory.ts';
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

describe('HealthChecks in other namespaces', () => {
  it('count where namespaceSelector finds their namespace and the selector them', async () => {
    const team = `team-${Math.random().toString(36).slice(2)}`;
    const [watched, unwatched] = [await newNamespace({ team }), await newNamespace({ team: 'other' })];
    await admin.create(healthCheck(watched, 'seen', { annotations: { 'healthcheck.kuberik.com/watched-from': '*' } }));
    await admin.create(healthCheck(watched, 'unwilling'));
    await admin.create(healthCheck(watched, 'unlabelled', { labels: { app: 'other' } }));
    await admin.create(healthCheck(unwatched, 'elsewhere'));
    const story = storyOf(view, await newNamespace());
    const selector = { ...SELECTS_HEALTH.healthCheckSelector, namespaceSelector: { matchLabels: { team } } };
    await story.create({ bakeTime: '1s', healthCheckSelector: selector });
    await story.publish('1.0.0');
    await story.headIs('1.0.0', 'Deploying');
    await story.conditionIs('HealthChecksLeftOut', {
      status: 'True',
      reason: 'NotAllowed',
      message: expect.stringContaining('1 HealthCheck of another namespace is selected but not watched'),
    });
    await staysTrue(
      async () => {
        expect(await story.head()).toMatchObject({ bakeStatus: 'Deploying' });
        return true;
      },
      'Deploying',
      1000,
    );
    await story.report('Healthy', { name: 'seen', namespace: watched });
    await story.headIs('1.0.0', 'Succeeded');
    for (const [namespace, name] of [
      [watched, 'seen'],
      [watched, 'unwilling'],
      [watched, 'unlabelled'],
      [unwatched, 'elsewhere'],
    ] as const)
      expect((await admin.get(ref('healthCheck', namespace, name))).status?.message).toBeUndefined();
    await nextSecond();
    await story.spec({ bakeTime: '1h' });
    await story.publish('1.1.0');
    // The check is Healthy still, and nobody resets it for this Rollout.
    await story.headIs('1.1.0', 'InProgress');
    await nextSecond();
    await story.report('Unhealthy', { name: 'seen', namespace: watched, message: 'down' });
    const { failedHealthChecks } = await story.headIs('1.1.0', 'Failed');
    expect(failedHealthChecks).toEqual([{ name: 'seen', namespace: watched, message: 'down' }]);
  });
});
