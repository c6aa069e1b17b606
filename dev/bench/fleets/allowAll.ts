/** What an admission webhook costs that decides nothing: it allows each write of the Kustomizations with its label, once as mutating and once as validating. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Access } from '../../client/kubeconfig.ts';
import { applyObject } from '../../client/resources.ts';
import { createAuthority } from '../../local/controlPlane/certificates.ts';

export const ALLOWED_LABEL = { 'bench.rollout-hooks/allowed': 'true' };

export interface AllowAll {
  /** How often it was asked. */
  asked(): number;
  close(): void;
}

export async function startAllowAll(admin: Access): Promise<AllowAll> {
  let asked = 0;
  const authority = await createAuthority(Date.now(), { name: 'bench' });
  const { certificate, key } = await authority.issue('allow-all');
  const server = createServer({ cert: certificate, key }, async (request, response) => {
    asked += 1;
    const review = (await json(request)) as { apiVersion: string; kind: string; request: { uid: string } };
    const { apiVersion, kind } = review;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ apiVersion, kind, response: { uid: review.request.uid, allowed: true } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const webhook = {
    name: 'allow-all.bench.example.com',
    clientConfig: {
      url: `https://127.0.0.1:${port}/`,
      caBundle: Buffer.from(authority.certificate).toString('base64'),
    },
    rules: [
      {
        apiGroups: ['kustomize.toolkit.fluxcd.io'],
        apiVersions: ['*'],
        resources: ['kustomizations'],
        operations: ['CREATE', 'UPDATE'],
      },
    ],
    objectSelector: { matchLabels: ALLOWED_LABEL },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    timeoutSeconds: 5,
  };
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { name: 'bench-allow-all' },
      webhooks: [webhook],
    };
    await applyObject(admin, configuration, { manager: 'bench', force: true });
  }
  return {
    asked: () => asked,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
