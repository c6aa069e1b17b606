/** The API server's client certificate for webhooks, and the configuration that makes it present the certificate. */
import { stringify } from 'yaml';
import { createAuthority } from './certificates.ts';

interface WebhookClient {
  /** PEM of the CA, which signs nothing else. */
  ca: string;
  /** A kubeconfig with the certificate and its key. */
  kubeconfig: string;
}

/** The name in the certificate, which manifests/components/authenticated-webhook requires. */
export const WEBHOOK_CLIENT_NAME = 'kube-apiserver-webhooks';

export async function createWebhookClient(nowMs: number): Promise<WebhookClient> {
  const authority = await createAuthority(nowMs, { name: 'rollout-hooks local clients of webhooks' });
  const { certificate, key } = await authority.issue(WEBHOOK_CLIENT_NAME, { use: 'client' });
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const user = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
  return {
    ca: authority.certificate,
    // Every webhook of this control plane is ours.
    kubeconfig: stringify({ apiVersion: 'v1', kind: 'Config', users: [{ name: '*', user }] }),
  };
}

/** The file for --admission-control-config-file. */
export function admissionConfiguration(kubeconfigFile: string): string {
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: ['ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook'].map((name) => ({
      name,
      configuration: {
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'WebhookAdmissionConfiguration',
        kubeConfigFile: kubeconfigFile,
      },
    })),
  });
}
