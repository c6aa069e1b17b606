/** The webhooks that the API server of the tests' cluster calls. */
import type { User } from '../../../dev/actors/user.ts';
import type { AnyObject } from '../../../dev/client/send.ts';

export const WEBHOOK_CONFIGURATIONS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map(
  (kind) => ({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'rollout-hooks' } }),
);

/** Replaces each webhook by what `change` returns. */
export async function changeWebhooks(admin: User, change: (webhook: AnyObject) => AnyObject): Promise<void> {
  for (const configuration of WEBHOOK_CONFIGURATIONS) {
    const { webhooks } = (await admin.get(configuration)) as AnyObject;
    await admin.mergePatch(configuration, { webhooks: webhooks.map(change) });
  }
}
