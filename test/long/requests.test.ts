/** One-shot requests act once and are removed, whatever dies between the asking, the acting and the removing. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClusterView, viewCluster, waitFor } from '../cluster/support/cluster.ts';
import { nextSecond, SELECTS_HEALTH, type Story, storyOf } from '../cluster/support/rolloutStory.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';

let cluster: TestCluster;
let view: ClusterView;

beforeAll(async () => {
  cluster = await startTestCluster();
  view = viewCluster(cluster);
});
afterAll(() => cluster?.dispose());

/** A death `ms` after the asking, and the return. */
async function dies(process: 'driver' | 'hooks', ms: number): Promise<void> {
  const moment = performance.now() + ms;
  await waitFor(() => performance.now() >= moment, 'the moment to strike');
  const child = cluster[process]();
  child?.kill('SIGKILL');
  await child?.exited;
  await (process === 'driver' ? cluster.startDriver() : cluster.startHooks());
}

const allGone = (story: Story) =>
  waitFor(async () => (await story.asked()).length === 0, 'the annotations to go', 60_000);

/** From before the request is seen at all to well after it is used up. */
const MOMENTS = [0, 10, 20, 30, 45, 60, 80, 110];

it.each(['driver', 'hooks'] as const)('force-deploys, while the %s dies each time', async (process) => {
  const story = storyOf(view, await view.newNamespace());
  await story.publish('1.0.0');
  await story.create({ versionHistoryLimit: 100 });
  await story.headIs('1.0.0', 'Succeeded');
  await story.publish('1.1.0');
  await story.headIs('1.1.0', 'Succeeded');
  const messages: string[] = [];
  for (const [i, moment] of MOMENTS.entries()) {
    const message = `request ${i}`;
    messages.push(message);
    await story.ask({
      'force-deploy': `1.${i % 2}.0`,
      'deploy-message': message,
      'deploy-user': `user-${i}`,
      'unblock-failed': 'true',
    });
    await dies(process, moment);
    await allGone(story);
  }
  const { history } = await story.statusOf();
  expect(history.map(({ id }: { id: number }) => id)).toEqual(
    history.map((_: unknown, i: number) => history.length - i),
  );
  // One that goes back to 1.0.0 leaves 1.1.0 as a candidate, and automation takes it before or after the next request.
  const byHand = history.filter(({ triggeredBy }: any) => triggeredBy.kind === 'User').reverse();
  const asked = byHand.map(({ message, triggeredBy }: any) => `${message} ${triggeredBy.name}`);
  expect(new Set(asked).size).toBe(asked.length);
  for (const [i, message] of messages.entries()) {
    if (i % 2 === 0) expect(asked).toContain(`${message} user-${i}`);
  }
  const others = history.filter(({ triggeredBy }: any) => triggeredBy.kind === 'System');
  expect(new Set(others.map(({ message }: any) => message))).toEqual(new Set(['Automatic deployment']));
});

it.each(['driver', 'hooks'] as const)('retries, while the %s dies each time', async (process) => {
  const story = storyOf(view, await view.newNamespace());
  await story.watch();
  await story.publish('1.0.0');
  await story.create({ bakeTime: '24h', onFailure: 'Hold', ...SELECTS_HEALTH });
  await story.headIs('1.0.0', 'Deploying');
  await story.healthReset();
  const times = new Set<string>();
  for (const moment of MOMENTS) {
    await nextSecond();
    await story.report('Unhealthy');
    await story.headIs('1.0.0', 'Failed');
    await nextSecond();
    await story.ask({ retry: '' });
    await dies(process, moment);
    await allGone(story);
    const { lastRetryTimestamp } = await story.headIs('1.0.0', 'Deploying');
    times.add(lastRetryTimestamp);
    await story.healthReset();
  }
  expect(times.size).toBe(MOMENTS.length);
  const told = (await story.events()).flatMap(({ reason, message }) => (reason === 'RetryRequested' ? [message] : []));
  expect(new Set(told).size).toBe(told.length);
  // Events die with the hook server that was about to write them; the status never does.
  if (process === 'driver') {
    expect(told).toEqual(
      expect.arrayContaining([...times].map((time) => `Retry requested; bake status reset at ${time}`)),
    );
  }
  expect(await story.statusOf()).toMatchObject({ history: [{ id: 1 }] });
});
