/** Times so far ahead that they cannot be written, or that Metacontroller cannot count to. */
import { expect, it } from 'vitest';
import { gate, kustomization, sharedCluster, waitFor } from './support/cluster.ts';
import { gated, isHeld } from './support/gates.ts';

const { admin, developer, sre, newNamespace } = sharedCluster();

it('a Gate closed by the calendar until 9999-12-31 suspends what names it, and what it selects', async () => {
  const ns = await newNamespace();
  const schedule = { action: 'Close', rules: [{ dateRange: { start: '2020-01-01', end: '9999-12-31' } }] };
  await sre.create(gate(ns, 'for-good', { spec: { default: 'opened', schedule } }));
  await sre.create(
    gate(ns, 'for-all', {
      spec: { default: 'opened', schedule, selects: { labelSelector: { matchLabels: { hold: 'me' } } } },
    }),
  );
  const named = gated('Kustomization', ns, 'named', 'for-good');
  const selected = kustomization(ns, 'selected', { labels: { hold: 'me' } });
  await developer.create(named);
  await developer.create(selected);
  await isHeld(admin, named, 'unset');
  await isHeld(admin, selected, 'unset');
  await waitFor(async () => {
    const bindings = await admin.list('kuberik.com/v1alpha1', 'FluxBinding', ns);
    return bindings.length === 2 && bindings.every(({ status }) => status?.gates?.[0]?.opened === false);
  }, 'both bindings to say that the gate is closed');
  expect((await admin.get(named as never)).spec.suspend).toBe(true);
});
