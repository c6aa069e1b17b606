/** etcd, kube-apiserver and kube-controller-manager on loopback, with their files in one directory. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Access } from '../../client/kubeconfig.ts';
import { send } from '../../client/send.ts';
import type { Binaries } from '../binaries/binaries.ts';
import { type RunningChild, startChild } from '../process/childProcess.ts';
import { freePort } from '../process/ports.ts';
import { identityIn } from './identity.ts';
import { tokenFile, USERS, type UserName, writeKubeconfigs } from './users.ts';
import { admissionConfiguration, createWebhookClient } from './webhookClient.ts';

/** In the order in which they start. */
export const CONTROL_PLANE = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const;
export type ControlPlaneProcess = (typeof CONTROL_PLANE)[number];

interface ControlPlaneOptions {
  dir: string;
  /** Port of the API server; 0 for the port of the last start, or a free one. */
  port: number;
  binaries: Binaries;
  /** Rules of the audit Policy for DIR/audit.log. */
  auditRules?: object[] | undefined;
  apiServerFlags?: readonly string[] | undefined;
}

/** Audit rules for the metadata of each request, to count requests by user, verb and resource. */
const METADATA = [{ level: 'Metadata', omitStages: ['RequestReceived'] }];

const auditPolicy = (rules: object[]) => ({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitManagedFields: true,
  rules,
});

/** Starts etcd and kube-apiserver and resolves when the API server is ready. */
export async function startControlPlane(options: ControlPlaneOptions) {
  const { dir, binaries } = options;
  const pki = join(dir, 'pki');
  mkdirSync(pki, { recursive: true, mode: 0o700 });
  const file = (name: string, text: string) => {
    writeFileSync(join(pki, name), text, { mode: 0o600 });
    return join(pki, name);
  };
  const { authority, signing, tokens, port } = await identityIn(pki, options.port, Date.now());
  const serving = await authority.issue('kube-apiserver');
  const webhookCertificate = await authority.issue('rollout-hooks');
  const webhookClient = await createWebhookClient(Date.now());
  const webhookClientCa = file('webhook-client-ca.crt', webhookClient.ca);
  const admissionConfig = admissionConfiguration(file('webhook-client.kubeconfig', webhookClient.kubeconfig));
  const signingKeyFile = file('service-account.key', signing.key);
  const url = `https://127.0.0.1:${port}`;
  const ca = authority.certificate;
  writeKubeconfigs(dir, url, ca, tokens);
  const accessOf = (user: UserName): Access => ({ url, ca, token: tokens[user] });
  const etcdUrl = `http://127.0.0.1:${await freePort()}`;
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const starts: Record<ControlPlaneProcess, () => Promise<RunningChild>> = {
    etcd: () => startEtcd(dir, binaries.etcd, etcdUrl, peerUrl),
    'kube-apiserver': () =>
      startChild({
        name: 'kube-apiserver',
        command: binaries['kube-apiserver'],
        dir,
        args: [
          `--etcd-servers=${etcdUrl}`,
          '--bind-address=127.0.0.1',
          '--advertise-address=127.0.0.1',
          // Endpoints of the Service `kubernetes` can't be on loopback, and nothing here uses them.
          '--endpoint-reconciler-type=none',
          `--secure-port=${port}`,
          `--cert-dir=${pki}`,
          `--tls-cert-file=${file('apiserver.crt', serving.certificate)}`,
          `--tls-private-key-file=${file('apiserver.key', serving.key)}`,
          `--token-auth-file=${file('tokens.csv', tokenFile(tokens))}`,
          '--authorization-mode=RBAC',
          `--admission-control-config-file=${file('admission.yaml', admissionConfig)}`,
          // The plugin requires the default ServiceAccount of each Namespace, whose controller doesn't run here.
          '--disable-admission-plugins=ServiceAccount',
          '--service-cluster-ip-range=10.0.0.0/24',
          '--service-account-issuer=https://kubernetes.default.svc',
          `--service-account-signing-key-file=${signingKeyFile}`,
          `--service-account-key-file=${file('service-account.pub', signing.publicKey)}`,
          `--audit-policy-file=${file('audit-policy.yaml', stringify(auditPolicy(options.auditRules ?? METADATA)))}`,
          `--audit-log-path=${join(dir, 'audit.log')}`,
          '--audit-log-maxsize=2000',
          '--shutdown-delay-duration=0s',
          ...(options.apiServerFlags ?? []),
        ],
        ready: async () =>
          (await send<string>(accessOf('admin'), 'GET', '/readyz', { timeoutMs: 2_000 })).object === 'ok',
        // Open watches would hold up a graceful end for a minute.
        stopTimeoutMs: 3_000,
      }),
    'kube-controller-manager': async () => {
      const kubeconfig = join(dir, USERS.controllerManager.file);
      const healthPort = await freePort();
      return startChild({
        name: 'kube-controller-manager',
        command: binaries['kube-controller-manager'],
        dir,
        args: [
          `--kubeconfig=${kubeconfig}`,
          `--authentication-kubeconfig=${kubeconfig}`,
          `--authorization-kubeconfig=${kubeconfig}`,
          '--controllers=garbage-collector-controller,namespace-controller,job-controller',
          // Controllers act under their real names, which our admission distinguishes.
          '--use-service-account-credentials',
          `--service-account-private-key-file=${signingKeyFile}`,
          '--leader-elect=false',
          '--bind-address=127.0.0.1',
          `--secure-port=${healthPort}`,
          `--cert-dir=${join(pki, 'kube-controller-manager')}`,
        ],
        ready: async (output) => output().includes('Garbage collector: all resource monitors have synced'),
        stopTimeoutMs: 2_000,
      });
    },
  };
  const etcd = await starts.etcd();
  try {
    const apiserver = await starts['kube-apiserver']();
    return {
      url,
      /** PEM of the CA that signed the certificates of the API server and of the webhook. */
      ca,
      etcdUrl,
      webhookCertificate,
      /** Path of the CA (PEM) of the API server's client certificate for webhooks. */
      webhookClientCa,
      accessOf,
      children: [etcd, apiserver],
      /**
       * Starts a process, with the same ports and data as before. Start the controller manager after the CRDs are
       * installed: its garbage collector looks for new kinds every 30 s only.
       */
      start: (name: ControlPlaneProcess) => starts[name](),
    };
  } catch (error) {
    await etcd.stop();
    throw error;
  }
}

function startEtcd(dir: string, command: string, clientUrl: string, peerUrl: string): Promise<RunningChild> {
  return startChild({
    name: 'etcd',
    command,
    dir,
    args: [
      '--name=local',
      `--data-dir=${join(dir, 'etcd')}`,
      `--listen-client-urls=${clientUrl}`,
      `--advertise-client-urls=${clientUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=local=${peerUrl}`,
      // The data must survive the death of a process, not a power failure.
      '--unsafe-no-fsync',
      '--log-level=warn',
    ],
    ready: async () => (await fetch(`${clientUrl}/health`, { signal: AbortSignal.timeout(2_000) })).ok,
  });
}
