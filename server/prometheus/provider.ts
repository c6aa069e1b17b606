/** A MetricProvider as it is stored now: whether a namespace may use it, and with which credentials it is asked. */
import { METRIC_PROVIDERS, NAMESPACES } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ClusterReader } from '../../api/ports.ts';
import type { MetricProvider } from '../../api/types.ts';
import { matchesSelector } from '../../core/kube/selector.ts';
import { trustOf } from '../registry/trust.ts';
import { type Endpoint, ProviderError } from './client.ts';

/** Where its Secrets are: a provider is the platform team's, and so is this namespace. */
const SECRETS_NAMESPACE = 'rollout-hooks';

type Data = Record<string, string>;

/** @throws ProviderError where it may not be used, or something that it names is missing; whatever the API server's failure is otherwise. */
export async function endpointOf(cluster: ClusterReader, name: string, namespace: string): Promise<Endpoint> {
  const provider = await cluster.get<MetricProvider>({ ...METRIC_PROVIDERS, name });
  if (!provider || !(await mayUse(cluster, provider, namespace))) {
    // A tenant learns nothing of what the platform team offers to others.
    const which = `its spec.namespaceSelector does not select namespace '${namespace}'`;
    throw new ProviderError(`does not exist, or ${which}: ask the platform team`);
  }
  const { address, secretRef, certSecretRef } = provider.spec;
  const [login, certificates] = await Promise.all([readSecret(cluster, secretRef), readSecret(cluster, certSecretRef)]);
  const trust = certificates && trustOf(certificates);
  if (trust && 'problem' in trust) throw new ProviderError(`has an unusable spec.certSecretRef: ${trust.problem}`);
  const authorization = login && authorizationOf(login);
  return { address, ...(authorization && { authorization }), ...(trust && { trust }) };
}

async function mayUse(cluster: ClusterReader, { spec }: MetricProvider, namespace: string): Promise<boolean> {
  const found = await cluster.get({ ...NAMESPACES, name: namespace });
  try {
    // Absent it selects nobody; an empty one selects all.
    return (
      found !== undefined && spec.namespaceSelector && matchesSelector(spec.namespaceSelector, found.metadata.labels)
    );
  } catch {
    return false;
  }
}

async function readSecret(cluster: ClusterReader, ref: { name: string } | undefined): Promise<Data | undefined> {
  if (!ref) return undefined;
  const where = { apiVersion: 'v1', resource: 'secrets', namespace: SECRETS_NAMESPACE, name: ref.name };
  const secret = await cluster.get<KubeObject & { data?: Data }>(where);
  if (!secret) throw new ProviderError(`names Secret ${SECRETS_NAMESPACE}/${ref.name}, which does not exist`);
  return secret.data ?? {};
}

function authorizationOf(data: Data): string {
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const [token, username, password] = [text('token').trim(), text('username'), text('password')];
  // A line break would become a header of its own.
  if (/^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
  if (username && password) return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  throw new ProviderError('has an unusable spec.secretRef: it needs token, or username and password');
}
