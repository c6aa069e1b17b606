/** Replaces references to Services in manifests by loopback URLs of the hook server on this machine. */
import type { AnyObject } from '../../client/send.ts';

export interface LoopbackServer {
  /** Plain HTTP, for Metacontroller's hooks. */
  hooksPort: number;
  /** TLS, for admission. */
  webhookPort: number;
  /** PEM of the CA that signed the webhook's certificate. */
  ca: string;
}

/** The object with each reference to a Service replaced. */
export function useLoopback(object: AnyObject, server: LoopbackServer): AnyObject {
  const changed = structuredClone(object);
  if (object.apiVersion.startsWith('metacontroller.k8s.io/')) {
    for (const endpoint of changed.spec?.endpointConfigs ?? []) endpoint.host = `127.0.0.1:${server.hooksPort}`;
    for (const hook of Object.values<AnyObject>(changed.spec?.hooks ?? {})) {
      if (!hook?.webhook?.service) continue;
      const { service: _, path = '/', ...options } = hook.webhook;
      hook.webhook = { ...options, url: `http://127.0.0.1:${server.hooksPort}${path}` };
    }
  }
  if (object.apiVersion.startsWith('admissionregistration.k8s.io/')) {
    for (const { clientConfig } of changed.webhooks ?? []) {
      if (!clientConfig?.service) continue;
      clientConfig.url = `https://127.0.0.1:${server.webhookPort}${clientConfig.service.path ?? '/'}`;
      clientConfig.caBundle = Buffer.from(server.ca).toString('base64');
      delete clientConfig.service;
    }
  }
  return changed;
}
