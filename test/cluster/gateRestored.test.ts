/** Gates that were stored without the webhook: from a backup, or while it was bypassed in an emergency. */
import { afterAll, beforeAll, it } from 'vitest';
import { type AnyObject, gate, sharedCluster, waitFor } from './support/cluster.ts';
import { gated, isFree, isHeld } from './support/gates.ts';

const { admin, developer, sre, newNamespace } = sharedCluster();
const UNSEEN = 'test.example.com/unseen';
const CONFIGURATION = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'rollout-hooks' },
};

const unseen = (
  namespace: string,
  spec: Record<string, unknown>,
  annotations: Record<string, string> = {},
): AnyObject => {
  const object = gate(namespace, 'freeze', { spec }) as AnyObject;
  return { ...object, metadata: { ...object.metadata, labels: { [UNSEEN]: '' }, annotations } };
};

/** The webhook isn't called for Gates with the label. */
async function hide(hidden: boolean): Promise<void> {
  const { webhooks } = await admin.get<AnyObject>(CONFIGURATION as never);
  const i = webhooks.findIndex(({ name }: { name: string }) => name === 'gate.admission.kuberik.com');
  const objectSelector = hidden ? { matchExpressions: [{ key: UNSEEN, operator: 'DoesNotExist' }] } : {};
  await admin.jsonPatch(CONFIGURATION as never, [
    { op: 'replace', path: `/webhooks/${i}/objectSelector`, value: objectSelector },
  ]);
}

let ns: string;
beforeAll(async () => {
  ns = await newNamespace();
  await hide(true);
  await waitFor(async () => {
    const { object } = await sre.create(unseen(ns, { default: 'opened', selects: {} }), { dryRun: true });
    return object.metadata.labels?.['gate.fluxcd.io/selects'] === undefined;
  }, 'the webhook not to see these Gates');
});
afterAll(() => hide(false));

it('a Gate stored without the webhook holds the objects that it selects, and its request counts', async () => {
  const app = gated('Kustomization', ns, 'app');
  await developer.create(app);
  const closed = { 'close.gate.fluxcd.io/requestedAt': '2026-01-01T00:00:00Z' };
  const freeze = unseen(ns, { default: 'opened', selects: {} }, closed);
  await sre.create(freeze);
  await isHeld(admin, app);
  await sre.mergePatch(freeze as never, { spec: { selects: null } });
  await isFree(admin, app);
  await waitFor(async () => {
    const { metadata } = await admin.get<AnyObject>(freeze as never);
    return metadata.labels?.['gate.fluxcd.io/selects'] === undefined;
  }, 'the label to go');
});
