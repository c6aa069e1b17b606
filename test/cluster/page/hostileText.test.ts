/** Tenants' text on the page, in a real browser: none of it runs or is fetched, or keeps the page from its data. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Visitor, visitorOf } from '../support/browser.ts';
import { gate, rolloutGate, sharedCluster } from '../support/cluster.ts';
import { timestamp } from '../support/gates.ts';
import { scenarioOf } from '../support/rolloutScenario.ts';

const MARKUP =
  'hostile <img src=x onerror="window.ran=1"><script>window.ran=1</script><a href="javascript:window.ran=1">go</a>\u2028x';

const view = sharedCluster();
let ns: string;
let visitor: Visitor;

beforeAll(async () => {
  ns = await view.newNamespace();
  const scenario = scenarioOf(view, ns);
  const annotations = {
    'kubernetes.io/change-cause': MARKUP,
    'gate.kuberik.com/description': MARKUP,
    'rollout.kuberik.com/deploy-message': MARKUP,
    'close.gate.fluxcd.io/reason': MARKUP,
    'close.gate.fluxcd.io/requestedAt': timestamp(),
  };
  const freeze = gate(ns, 'freeze', { spec: { default: 'opened', window: '1h' } });
  await view.sre.create(freeze);
  await scenario.create({ gates: [{ name: 'freeze' }] });
  await scenario.bind();
  await scenario.publish('1.0.0');
  await scenario.arrive('1.0.0');
  await view.developer.mergePatch(scenario.app as never, { metadata: { annotations } });
  await view.sre.mergePatch(freeze as never, { metadata: { annotations } });
  const qa = rolloutGate(ns, 'qa', 'app', { allowedVersions: [] });
  await view.sre.create({ ...qa, metadata: { ...qa.metadata, annotations } });
  await scenario.publish('1.1.0');
  visitor = await visitorOf(view.dir, 'sre', ns);
});
afterAll(() => visitor.close());

it.each([
  ['the board', () => '/', 'app'],
  ['an application', () => `/rollout/${ns}/app`, 'hostile <img'],
  ['gates', () => '/gates', 'freeze'],
  ['a gate', () => `/gate/${ns}/freeze`, 'hostile <img'],
])('on %s', async (_name, path, text) => {
  const tab = await visitor.tab(path());
  await tab.getByText(text).first().waitFor();
  expect(await tab.evaluate(() => (globalThis as { ran?: number }).ran)).toBeUndefined();
  expect(await tab.locator('img[src=x], a[href^="javascript:"]').count()).toBe(0);
});
