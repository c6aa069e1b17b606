/** The token that a hook is called with, found as Metacontroller finds it. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { ApiClient } from '../cluster/apiClient.ts';
import type { Authorization, EndpointConfig } from './controllerSpec.ts';

type Secret = KubeObject & { data?: Record<string, string> };

/** That of the hook's host. */
export function authorizationAt(url: string, endpointConfigs: readonly EndpointConfig[]): Authorization | undefined {
  const { protocol, hostname, port, host } = new URL(url);
  const usual = protocol === 'https:' ? '443' : '80';
  const names = [host, `${hostname}:${port || usual}`];
  return endpointConfigs.find((config) => names.includes(config.host.toLowerCase()))?.authorization;
}

/** Reads the Secret with the engine's own rights. */
export async function authorizationHeader(
  { type = 'Bearer', secretRef }: Authorization,
  client: Pick<ApiClient, 'get'>,
): Promise<string> {
  if (type.trim().toLowerCase() === 'basic')
    throw new Error('authorization of type Basic is not supported: use basicAuth');
  const { namespace, name, key } = secretRef;
  const secret = await client.get<Secret>(`/api/v1/namespaces/${namespace}/secrets/${name}`);
  const value = secret.data?.[key];
  if (value === undefined) throw new Error(`authorization: Secret ${namespace}/${name} has no key ${key}`);
  return `${type.trim() || 'Bearer'} ${Buffer.from(value, 'base64').toString('utf8').trim()}`;
}
