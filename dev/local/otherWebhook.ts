/** Another team's admission webhook, for writes of objects of one kind with its label. */
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import type { Access } from '../client/kubeconfig.ts';
import { applyObject } from '../client/resources.ts';
import type { AnyObject } from '../client/send.ts';
import { createAuthority } from './controlPlane/certificates.ts';
import { listenOnLoopback } from './process/ports.ts';

/** An operation of a JSON Patch. */
export interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

export interface OtherWebhook {
  /** Number of calls by the API server. */
  calls(): number;
  close(): void;
}

/**
 * Installs a mutating and a validating webhook, called after rollout-hooks, and again if rollout-hooks changes the
 * object after it. They allow everything; `patch` is the mutation, none by default.
 */
export async function startOtherWebhook(
  admin: Access,
  name: string,
  labels: Record<string, string>,
  {
    patch = () => [],
    kind = { group: 'kustomize.toolkit.fluxcd.io', resource: 'kustomizations' },
  }: { patch?: (object: AnyObject) => Operation[]; kind?: { group: string; resource: string } } = {},
): Promise<OtherWebhook> {
  let calls = 0;
  const authority = await createAuthority(Date.now(), { name });
  const { certificate, key } = await authority.issue(name);
  const server = createServer({ cert: certificate, key }, async (request, response) => {
    calls += 1;
    const { apiVersion, kind, request: asked } = (await json(request)) as AnyObject;
    const operations = request.url?.startsWith('/mutate') ? patch(asked.object) : [];
    const changes = operations.length > 0 && {
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true, ...changes } }));
  });
  const { host, close } = await listenOnLoopback(server);
  const webhook = (path: string) => ({
    name: `${name}.example.com`,
    clientConfig: {
      url: `https://${host}${path}`,
      caBundle: Buffer.from(authority.certificate).toString('base64'),
    },
    rules: [
      {
        apiGroups: [kind.group],
        apiVersions: ['*'],
        resources: [kind.resource],
        operations: ['CREATE', 'UPDATE'],
      },
    ],
    objectSelector: { matchLabels: labels },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    timeoutSeconds: 5,
  });
  const configurations = [
    ['MutatingWebhookConfiguration', { ...webhook('/mutate'), reinvocationPolicy: 'IfNeeded' }],
    ['ValidatingWebhookConfiguration', webhook('/validate')],
  ] as const;
  for (const [configuration, each] of configurations) {
    const object = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: configuration,
      // The API server calls webhooks in the order of these names.
      metadata: { name: `zz-${name}` },
      webhooks: [each],
    };
    await applyObject(admin, object, { manager: name, force: true });
  }
  return { calls: () => calls, close };
}
