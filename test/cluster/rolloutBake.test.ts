/** The life of a deployment: written, arrived, healthy, baked; or failed, cancelled, retried. Times are real and short. */
import { describe, expect, it } from 'vitest';
import { ref, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { healthCheck, nextSecond, SELECTS_HEALTH, type Story, secondsOf, storyOf } from './support/rolloutStory.ts';
import { history, tagArrives, variablesArrive } from './support/versions.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

/** A watched Rollout whose first version is Deploying and whose HealthCheck is reset; nothing is bound to it. */
async function deploying(spec: Record<string, unknown> = {}, tag = '1.0.0'): Promise<Story> {
  const story = storyOf(view, await newNamespace());
  await story.watch();
  await story.create({ bakeTime: '2s', ...SELECTS_HEALTH, ...spec });
  await story.publish(tag);
  await story.headIs(tag, 'Deploying');
  await story.healthReset();
  return story;
}

async function failed(spec: Record<string, unknown> = {}): Promise<Story> {
  const story = await deploying(spec);
  await story.report('Unhealthy', { message: 'errors everywhere' });
  await story.headIs('1.0.0', 'Failed');
  await nextSecond();
  return story;
}

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

  it('is not started by what Flux has applied of an older source', async () => {
    const story = storyOf(view, await newNamespace());
    await story.bind();
    await story.create({ bakeTime: '1s' });
    await story.publish('1.0.0');
    await story.arrive('1.0.0');
    await story.headIs('1.0.0', 'Succeeded');
    await story.publish('1.1.0');
    await story.headIs('1.1.0', 'Deploying');
    await tagArrives(admin, story.ns, 'app', '1.1.0');
    await staysTrue(async () => (await story.head()).bakeStatus === 'Deploying', 'Deploying', 1500);
    await story.fetched('1.1.0');
    await staysTrue(async () => (await story.head()).bakeStatus === 'Deploying', 'Deploying', 1000);
    await story.flux.apply(story.ns, 'app');
    await story.headIs('1.1.0', 'Succeeded');
  });

  it('without bakeTime ends as it starts', async () => {
    const story = await deploying({ bakeTime: null, deployTimeout: '10m' });
    await story.report('Healthy');
    const done = await story.headIs('1.0.0', 'Succeeded');
    expect(done.bakeStatusMessage).toBe('Bake completed (no bake time configured).');
    expect(done.bakeStartTime).toBeDefined();
    await story.conditionIs('Ready', { reason: 'BakeTimePassed' });
  });

  it('fails when a check reports an error, and says which', async () => {
    const story = await deploying({ bakeTime: '10m' });
    await story.report('Healthy');
    const baking = await story.headIs('1.0.0', 'InProgress');
    await story.report('Unhealthy', { message: 'service unavailable' });
    const head = await story.headIs('1.0.0', 'Failed');
    expect(head).toMatchObject({
      bakeStartTime: baking.bakeStartTime,
      bakeEndTime: expect.any(String),
      bakeStatusMessage: 'A HealthCheck reported an error after bake started.',
      failedHealthChecks: [{ name: 'app', namespace: story.ns, message: 'service unavailable' }],
    });
    await story.conditionIs('Ready', { status: 'False', reason: 'BakeTimeFailed', message: head.bakeStatusMessage });
  });

  it('does not end while a check is Pending', async () => {
    const story = await deploying({ bakeTime: '3s' });
    await story.report('Healthy');
    await story.headIs('1.0.0', 'InProgress');
    await story.report('Pending');
    await story.conditionIs('Progressing', { status: 'True', reason: 'WaitingForHealth' });
    await story.headIs('1.0.0', 'InProgress');
    await story.report('Healthy');
    await story.headIs('1.0.0', 'Succeeded');
  });

  it('fails when a check turns Unhealthy, also where its reporter does not say when', async () => {
    const story = await deploying({ bakeTime: '10m' });
    await story.report('Healthy');
    await story.headIs('1.0.0', 'InProgress');
    await story.report('Unhealthy', { error: false, message: 'too slow' });
    const { failedHealthChecks } = await story.headIs('1.0.0', 'Failed');
    expect(failedHealthChecks).toEqual([{ name: 'app', namespace: story.ns, message: 'too slow' }]);
  });

  it('fails after deployTimeout when health does not come', async () => {
    const story = await deploying({ deployTimeout: '3s' });
    const head = await story.headIs('1.0.0', 'Failed');
    expect(head.bakeStatusMessage).toBe(
      'Deploy timeout reached before bake could start (health checks did not become healthy in time).',
    );
    expect(head.failedHealthChecks).toEqual([
      { name: 'app', namespace: story.ns, message: 'Health check reset due to new deployment' },
    ]);
    expect(secondsOf(head.bakeEndTime) - secondsOf(head.timestamp)).toBeGreaterThanOrEqual(3);
    expect(head.bakeStartTime).toBeUndefined();
  });

  it('fails after deployTimeout when Flux does not apply it, and names the object', async () => {
    const story = storyOf(view, await newNamespace());
    await story.bind();
    await story.create({ deployTimeout: '2s' });
    await story.publish('1.0.0');
    const { bakeStatusMessage } = await story.headIs('1.0.0', 'Failed');
    expect(bakeStatusMessage).toMatch(/^Deploy timeout reached before bake could start \(not applied by /);
    expect(bakeStatusMessage).toContain("Kustomization 'app'");
    expect(bakeStatusMessage).toContain("OCIRepository 'app'");
  });
});

describe('the next version', () => {
  it('waits for the bake before it; of several that came only the newest is deployed', async () => {
    const story = await deploying();
    for (const tag of ['1.1.0', '1.2.0', '1.3.0']) {
      await story.publish(tag);
      await waitFor(async () => (await story.statusOf()).pendingVersion === tag, `${tag} to be pending`);
    }
    await staysTrue(async () => (await history(admin, story.ns, 'app')).length === 1, 'one deployment', 500);
    await nextSecond();
    await story.report('Healthy');
    await story.headIs('1.3.0', 'Deploying');
    expect(await history(admin, story.ns, 'app')).toEqual([
      [2, '1.3.0'],
      [1, '1.0.0'],
    ]);
    expect((await story.statusOf()).history[1].bakeStatus).toBe('Succeeded');
  });

  it('cancels a bake when it is asked for by hand, and is then in recovery mode', async () => {
    const story = await deploying();
    await story.spec({ wantedVersion: '2.0.0' });
    await story.headIs('2.0.0', 'Deploying');
    const [, cancelled] = (await story.statusOf()).history;
    expect(cancelled).toMatchObject({
      id: 1,
      bakeStatus: 'Cancelled',
      bakeStatusMessage: 'Bake cancelled due to new deployment.',
      bakeEndTime: expect.any(String),
      message: 'Deployment cancelled due to new deployment of version 2.0.0',
    });
    await story.conditionIs('BakeFailureDisabled', {
      status: 'True',
      reason: 'PreviousBakeFailed',
      message: 'Previous deployment was cancelled. Health check failures will not fail this deployment.',
    });
    await story.healthReset();
    await story.report('Unhealthy');
    await staysTrue(async () => (await story.head()).bakeStatus === 'Deploying', 'no failure in recovery mode', 1000);
    await story.report('Healthy');
    await story.headIs('2.0.0', 'Succeeded');
  });

  it('follows a failure under Continue, past the check that it has broken, with a bake of its own', async () => {
    const story = await failed({ onFailure: 'Continue' });
    await story.publish('1.1.0');
    await story.headIs('1.1.0', 'Deploying');
    await story.conditionIs('BakeFailureDisabled', { status: 'False', reason: 'Normal' });
    await story.healthReset();
    await nextSecond();
    await story.report('Unhealthy');
    await story.headIs('1.1.0', 'Failed');
  });

  it('is rolled back under Rollback, once, and a newer version goes forward from there', async () => {
    const story = await deploying({ onFailure: 'Rollback', bakeTime: '1s' });
    await story.bind();
    const arrive = async (tag: string) => {
      await story.arrive(tag);
      // Health counts from the arrival on, and is reset by it.
      await waitFor(async () => (await story.head()).appliedTime !== undefined, 'the arrival');
      await story.healthReset();
      await nextSecond();
    };
    await arrive('1.0.0');
    await story.report('Healthy');
    await story.headIs('1.0.0', 'Succeeded');
    await story.publish('2.0.0');
    await story.headIs('2.0.0', 'Deploying');
    await arrive('2.0.0');
    await story.report('Unhealthy', { message: 'errors everywhere' });
    const head = await story.headIs('1.0.0', {
      bakeStatus: 'Deploying',
      rolledBackFrom: '2.0.0',
      message: 'Automatic rollback from 2.0.0',
    });
    expect(await history(admin, story.ns, 'app')).toEqual([
      [3, '1.0.0'],
      [2, '2.0.0'],
      [1, '1.0.0'],
    ]);
    await story.conditionIs('RolledBack', {
      status: 'True',
      message: 'Rolled back from 2.0.0 to 1.0.0: A HealthCheck reported an error after deployment.',
    });
    await arrive('1.0.0');
    await story.report('Healthy');
    await story.headIs('1.0.0', { bakeStatus: 'Succeeded', id: head.id });
    expect((await story.statusOf()).releaseCandidates).toEqual([]);
    await story.publish('2.0.1');
    await story.headIs('2.0.1', 'Deploying');
    const told = (await story.events()).filter(({ reason }) => reason === 'AutomaticRollback');
    expect(told).toMatchObject([{ type: 'Warning', count: 1 }]);
  });

  it('does not follow a failure under Hold until unblock-failed, which does not pass unhealthy checks', async () => {
    const story = await failed({ onFailure: 'Hold' });
    await story.publish('1.1.0');
    await waitFor(async () => (await story.statusOf()).pendingVersion === '1.1.0', 'the candidate');
    await story.ask({ 'unblock-failed': 'true' });
    await staysTrue(async () => (await story.head()).version.tag === '1.0.0', '1.0.0 while Unhealthy', 1000);
    expect(await story.asked()).toEqual(['unblock-failed']);
    await story.report('Healthy');
    const head = await story.headIs('1.1.0', 'Deploying');
    expect(head.message).toBe('Automatic deployment, with failed bake unblock');
    await story.conditionIs('BakeFailureDisabled', { status: 'True', reason: 'PreviousBakeFailed' });
    await story.conditionIs('Ready', {
      status: 'True',
      message:
        'Release deployed successfully with failed bake unblock. Waiting for health checks to become healthy before starting bake',
    });
    await waitFor(async () => (await story.asked()).length === 0, 'the annotation to go');
  });

  it('stays away under Hold though health has come back', async () => {
    const story = await failed({ onFailure: 'Hold' });
    await story.report('Healthy');
    await story.publish('1.1.0');
    await waitFor(async () => (await story.statusOf()).pendingVersion === '1.1.0', 'the candidate');
    await staysTrue(async () => (await story.head()).version.tag === '1.0.0', '1.0.0', 1500);
  });

  it('comes in recovery mode when it is asked for during an incident', async () => {
    const story = await deploying({ deployTimeout: '3s' });
    await story.report('Healthy');
    await story.headIs('1.0.0', 'Succeeded');
    await story.report('Unhealthy');
    await story.spec({ wantedVersion: '1.1.0' });
    await story.headIs('1.1.0', 'Deploying');
    await story.conditionIs('BakeFailureDisabled', {
      status: 'True',
      reason: 'DeployedWithUnhealthyHealthChecks',
      message: 'Deployed during an active incident. Health check failures will not fail this deployment.',
    });
    await staysTrue(async () => (await story.head()).bakeStatus === 'Deploying', 'Deploying past its timeout', 4500);
    await story.report('Healthy');
    await story.headIs('1.1.0', 'Succeeded');
  });
});

describe('a retry', () => {
  it('begins the failed deployment again, with fresh health and a fresh timeout', async () => {
    const story = await failed({ deployTimeout: '5s' });
    const before = await story.head();
    await story.ask({ retry: '' });
    const again = await story.headIs('1.0.0', { bakeStatus: 'Deploying', lastRetryTimestamp: expect.any(String) });
    expect(again).toMatchObject({ id: 1, timestamp: before.timestamp });
    for (const field of ['bakeStatusMessage', 'bakeStartTime', 'bakeEndTime', 'failedHealthChecks'])
      expect(again).not.toHaveProperty(field);
    await story.healthReset();
    await waitFor(async () => (await story.asked()).length === 0, 'the annotation to go');
    await nextSecond();
    await story.report('Healthy');
    await story.headIs('1.0.0', 'Succeeded');
    expect(await history(admin, story.ns, 'app')).toEqual([[1, '1.0.0']]);
  });

  it('that fails again may be retried again', async () => {
    const story = await failed();
    const times = new Set<string>();
    for (let i = 0; i < 2; i++) {
      await story.ask({ retry: '' });
      await story.headIs('1.0.0', 'Deploying');
      await story.healthReset();
      times.add((await story.head()).lastRetryTimestamp);
      await nextSecond();
      await story.report('Unhealthy');
      await story.headIs('1.0.0', 'Failed');
      await nextSecond();
    }
    expect(times.size).toBe(2);
  });

  it('of a deployment that has not failed changes nothing', async () => {
    const story = await deploying();
    await story.ask({ retry: '' });
    await waitFor(async () => (await story.asked()).length === 0, 'the annotation to go');
    expect(await story.head()).not.toHaveProperty('lastRetryTimestamp');
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
