/** Replaces the webhook's certificate and its authority while the server runs. A closed Gate holds in every step. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { createAuthority } from '../../dev/local/controlPlane/certificates.ts';
import { type AnyObject, ApiError, gate, waitFor } from '../cluster/support/cluster.ts';
import { gated, isHeld } from '../cluster/support/gates.ts';
import { changeWebhooks, WEBHOOK_CONFIGURATIONS } from '../cluster/support/webhooks.ts';
import { cluster, view } from './cluster.ts';

/** Sets the CA of each webhook that the API server calls. */
async function trust(bundle: string): Promise<void> {
  const caBundle = Buffer.from(bundle).toString('base64');
  await changeWebhooks(view.admin, (webhook) => ({ ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } }));
}

async function clientConfig(): Promise<{ url: string; caBundle: string }> {
  const { webhooks } = (await view.admin.get(WEBHOOK_CONFIGURATIONS[0]!)) as AnyObject;
  return webhooks[0].clientConfig;
}

async function issuerOfServed(): Promise<string> {
  const { hostname: host, port } = new URL((await clientConfig()).url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      // With TLS 1.3 the server refuses a client without a certificate after this.
      resolve(socket.getPeerX509Certificate()?.issuer ?? '');
      socket.destroy();
    }).on('error', reject);
  });
}

export function certificate(): void {
  it('a change is refused with each certificate, and nothing passes while the API server does not trust it', async () => {
    const ns = await view.newNamespace();
    await view.sre.create(gate(ns, 'freeze', { spec: { default: 'closed' } }));
    const object = gated('Kustomization', ns, 'web', 'freeze');
    await view.developer.create(object);
    await isHeld(view.admin, object);
    let attempts = 0;
    const codeOf = () =>
      view.developer.mergePatch(object, { spec: { path: `./${++attempts}` } }).then(
        () => 200,
        (error) => (error instanceof ApiError ? error.code : Promise.reject(error)),
      );
    const answers = async (code: number, what: string) => {
      const seen = new Set<number>();
      await waitFor(async () => {
        const now = await codeOf();
        seen.add(now);
        return now === code;
      }, what);
      expect(seen).not.toContain(200);
    };
    const old = Buffer.from((await clientConfig()).caBundle, 'base64').toString();
    const authority = await createAuthority(Date.now(), { name: 'the next authority' });
    const next = await authority.issue('rollout-hooks');
    await answers(403, 'the old certificate');

    // As a user who trusts only one of both for a while.
    await trust(authority.certificate);
    await answers(500, 'an authority that is not the certificate’s');
    await trust([old, authority.certificate].join('\n'));
    await answers(403, 'both authorities');

    writeFileSync(join(cluster.dir, 'pki/webhook.crt'), next.certificate);
    await answers(403, 'a certificate without its key: the last good one stays');
    writeFileSync(join(cluster.dir, 'pki/webhook.key'), next.key, { mode: 0o600 });
    await waitFor(
      async () => (await issuerOfServed()).includes('the next authority'),
      'the next certificate to be served',
    );
    await answers(403, 'the next certificate');
    await trust(authority.certificate);
    await answers(403, 'the next authority alone');
    await isHeld(view.admin, object);
  });
}
