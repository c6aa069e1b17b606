/** The chart of a prometheus HealthCheck's measurements on the application's page, in a real browser. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { complaints, expectAccessible, expectGoodOnPhone, type Visitor, visitorOf } from '../support/browser.ts';
import { ref, sharedCluster, waitFor } from '../support/cluster.ts';
import { inSeconds, nextSecond, type RolloutScenario, SELECTS_HEALTH, scenarioOf } from '../support/rolloutScenario.ts';

const view = sharedCluster();
let scenario: RolloutScenario;
let visitor: Visitor;

const RESULTS = [{ value: '2' }, { value: '4.25' }, { result: 'Unknown' }, { value: '3' }, { value: '1' }];
const OUTSIDE = [...RESULTS, { value: '9', result: 'OutOfRange' }];

/** The newest measurement is last; measurements are a minute apart. */
async function measure(results: readonly { value?: string; result?: string }[], message: string): Promise<void> {
  const now = Date.now();
  const measurements = results.map((each, index) => ({
    result: 'InRange',
    ...each,
    time: inSeconds(now - (results.length - 1 - index) * 60_000),
  }));
  await view.admin.patchStatus(ref('healthCheck', scenario.ns, 'app'), {
    status: 'Pending',
    message,
    lastChangeTime: inSeconds(now),
    prometheus: { failures: 1, measurements: measurements.reverse() },
  });
}

beforeAll(async () => {
  scenario = scenarioOf(view, await view.newNamespace());
  await scenario.create({ ...SELECTS_HEALTH, bakeTime: '1h', deployTimeout: '2h' });
  await scenario.publish('1.0.0');
  await scenario.headIs('1.0.0', {});
  const prometheus = { provider: 'none', query: 'up', thresholdRange: { max: 5 }, interval: '24h' };
  await scenario.watch({ class: 'prometheus', prometheus });
  // The server isn't there and the interval is a day, so that the status stays as the test writes it.
  await waitFor(
    async () => (await view.admin.get(ref('healthCheck', scenario.ns, 'app'))).status?.prometheus?.measurements?.length,
    'the measurement of the hook',
  );
  await nextSecond();
  visitor = await visitorOf(view.dir, 'developer', scenario.ns);
});
afterAll(() => visitor?.close());

it('is drawn with its range and gaps, redrawn after another measurement, passes axe, and fits a phone', async () => {
  await measure(RESULTS, '1 is inside the range (at most 5)');
  const tab = await visitor.tab(`/rollout/${scenario.ns}/app`);
  await tab
    .getByRole('img', {
      name: /^1, inside the range \(at most 5\), at .+\. 5 measurements since .+: 0 outside the range, 1 without a value$/,
    })
    .waitFor();
  await measure(OUTSIDE, '9 is outside the range (at most 5)');
  const drawing = tab.getByRole('img', {
    name: /^9, outside the range \(at most 5\).*: 1 outside the range, 1 without/,
  });
  await drawing.waitFor();
  const count = (part: string) => drawing.locator(part).count();
  expect(await Promise.all(['polyline', '.outside', '.gap', '.metric-bound', 'circle'].map(count))).toEqual([
    2, 1, 1, 1, 4,
  ]);
  expect(complaints(tab)).toEqual([]);
  await expectAccessible(tab);
  await expectGoodOnPhone(tab, drawing);
});
