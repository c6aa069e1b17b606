/** Calls a hook over HTTP: 200 is an answer, 429 a request to retry later, and anything else fails the sync. */
import { Agent, request } from 'undici';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { parseDuration } from '../../../core/kube/duration.ts';
import type { ApiClient } from '../cluster/apiClient.ts';
import type { Engine, HookRequest, HookTransport } from '../cluster/engine.ts';
import { groupsText, jsonText } from '../json/objects.ts';
import type { Authorization, EndpointConfig, HookSpec } from './controllerSpec.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
const IDLE_MS = 90_000;
const CONNECTIONS_PER_SERVER = 64;

/** The hook's request to be called again later, which is no failure. */
export class TooManyRequests extends Error {
  readonly afterSeconds: number;
  constructor(afterSeconds: number) {
    super(`the hook asks to come back in ${afterSeconds} s`);
    this.afterSeconds = afterSeconds;
  }
}

export interface HookClient {
  /** The body of a 200. Throws TooManyRequests on 429, an Error on anything else. */
  call(body: HookRequest): Promise<string>;
}

/** A client of the hook. As in Metacontroller, credentials are read once, when the controller starts. */
export async function hookClient(
  { webhook: { url, timeout } }: HookSpec,
  { hooks, client }: Pick<Engine, 'hooks' | 'client'>,
  endpointConfigs: readonly EndpointConfig[] = [],
): Promise<HookClient> {
  const secret = authorizationAt(url, endpointConfigs)?.secretRef;
  const authorization = secret && `Bearer ${await tokenIn(secret, client)}`;
  const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
  const timeoutMs = parseDuration(timeout) || DEFAULT_TIMEOUT_MS;
  return {
    async call(body) {
      const { code, retryAfter, text } = await hooks(url, { headers, body, timeoutMs }).catch((error: unknown) => {
        throw new Error(`calling ${url} failed`, { cause: error });
      });
      if (code === 200) return text;
      // Our server gives seconds.
      if (code === 429) throw new TooManyRequests(Number.parseInt(retryAfter, 10) || 0);
      throw new Error(`${url} answered ${code}: ${text.slice(0, 500)}`);
    },
  };
}

/** A transport over HTTP, with one agent for all hooks: connections are kept and shared per server. */
export function hooksOverHttp(): HookTransport {
  const agent = new Agent({
    connections: CONNECTIONS_PER_SERVER,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  });
  return async (url, { headers, body, timeoutMs }) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await request(url, { dispatcher: agent, method: 'POST', headers, body: textOf(body), signal });
    const text = await response.body.text();
    return { code: response.statusCode, retryAfter: String(response.headers['retry-after'] ?? ''), text };
  };
}

function textOf(body: HookRequest): string {
  const fields = Object.entries(body).map(([name, value]) => {
    const text = value instanceof Map ? groupsText(value) : typeof value === 'object' ? jsonText(value) : value;
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${fields.join()}}`;
}

type Secret = KubeObject & { data?: Record<string, string> };

/** The authorization of the hook's host. */
function authorizationAt(url: string, endpointConfigs: readonly EndpointConfig[]): Authorization | undefined {
  const { protocol, hostname, port, host } = new URL(url);
  const usual = protocol === 'https:' ? '443' : '80';
  const names = [host, `${hostname}:${port || usual}`];
  return endpointConfigs.find((config) => names.includes(config.host.toLowerCase()))?.authorization;
}

/** Reads the Secret with the engine's own rights. */
async function tokenIn(
  { namespace, name, key }: Authorization['secretRef'],
  client: Pick<ApiClient, 'get'>,
): Promise<string> {
  const secret = await client.get<Secret>(`/api/v1/namespaces/${namespace}/secrets/${name}`);
  const value = secret.data?.[key];
  if (value === undefined) throw new Error(`authorization: Secret ${namespace}/${name} has no key ${key}`);
  return Buffer.from(value, 'base64').toString('utf8').trim();
}
