import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectAccessible, keepScreenshot, type Visitor, visitorOf } from '../support/browser.ts';
import { rollout, sharedCluster } from '../support/cluster.ts';

describe('promotion', () => {
  const view = sharedCluster();
  let ns: string;
  let visitor: Visitor;

  beforeAll(async () => {
    ns = await view.newNamespace();
    const from = (...names: string[]) => ({
      spec: { releasesImagePolicy: { name: 'app' }, after: names.map((name) => ({ name })) },
    });
    await view.developer.create(
      rollout(ns, 'staging', { spec: { releasesImagePolicy: { name: 'app' }, bakeTime: '1h' } }),
    );
    for (const region of ['eu', 'us']) await view.developer.create(rollout(ns, region, from('staging')));
    await view.developer.create(rollout(ns, 'world', from('eu', 'us')));
    await view.publish(ns, 'app', '1.0.0');
    visitor = await visitorOf(view.dir, 'developer', ns);
  });
  afterAll(() => visitor.close());

  it.each(['light', 'dark'] as const)('is a graph of stages with their progress, %s', async (colorScheme) => {
    const tab = await visitor.tab('/promotion', { colorScheme });
    const node = (name: string) =>
      tab.getByRole('listitem').filter({ has: tab.getByRole('link', { name, exact: true }) });
    await node('staging')
      .getByText(/1\.0\.0 baking/)
      .waitFor();
    await node('world').getByText('1.0.0 held at the gates').waitFor();
    await expectAccessible(tab);
    await keepScreenshot(tab, `promotion-${colorScheme}`);
  });
});
