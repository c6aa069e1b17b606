/** docs/notifications.md with the real notification-controller: the messages that its Provider sends. */
import { expect, it } from 'vitest';
import { freePort } from '../../../dev/local/process/ports.ts';
import { type AnyObject, gate, ref, waitFor } from '../../cluster/support/cluster.ts';
import { exampleObjects } from '../../cluster/support/examples.ts';
import { gated, requestGate } from '../../cluster/support/gates.ts';
import { playNotificationController } from '../../cluster/support/notificationController.ts';
import { conditionOf } from '../../cluster/support/versions.ts';
import { realFluxSetup } from './realFluxSetup.ts';

const eventsAddress = `127.0.0.1:${await freePort()}`;
const setup = realFluxSetup({ eventsAddress, hookEnv: { EVENTS_ADDR: `http://${eventsAddress}/` } });
const chat = await playNotificationController();

it('a chat gets one message about a freeze by the Alert of the examples, and none about other namespaces', async () => {
  const { ns, view } = setup;
  const other = await view.newNamespace();
  const alert = exampleObjects('notifications.yaml').find(({ metadata }) => metadata.name === 'releases')!;
  const provider = {
    apiVersion: alert.apiVersion,
    kind: 'Provider',
    metadata: { namespace: ns, name: 'chat' },
    spec: { type: 'generic', address: chat.address },
  };
  await view.admin.create(provider as AnyObject);
  await view.admin.create({
    ...alert,
    metadata: { namespace: ns, name: 'releases' },
    spec: { ...alert.spec, providerRef: { name: 'chat' } },
  });
  for (const home of [other, ns]) {
    await view.sre.create(gate(home, 'freeze', { spec: { default: 'opened' } }));
    await view.developer.create(gated('Kustomization', home, 'web', 'freeze'));
    await waitFor(
      async () => (await view.admin.get(ref('gate', home, 'freeze'))).status?.requiredByCount === 1,
      'the object to be counted',
    );
    await requestGate(view.sre, home, 'freeze', 'close', { more: { 'close.gate.fluxcd.io/reason': 'INC-42' } });
  }
  await chat.untilNotified(
    'Kustomization',
    ns,
    'web',
    new RegExp(`^info Gate ${ns}/freeze GateClosed: .*closed by sre: INC-42$`),
  );
  await waitFor(
    async () => conditionOf(await view.admin.get(ref('gate', ns, 'freeze')), 'Opened')?.status === 'False',
    'the Gate to say that it is closed',
  );
  await requestGate(view.sre, ns, 'freeze', 'open');
  await chat.untilNotified('Kustomization', ns, 'web', new RegExp(`^info Gate ${ns}/freeze GateOpened: `));
  expect(chat.notificationsOf('Kustomization', ns, 'web')).toHaveLength(2);
  expect(chat.events.filter(({ involvedObject }) => involvedObject.namespace !== ns)).toEqual([]);
  expect(chat.events[0]?.metadata).toMatchObject({ cluster: 'production' });
});
