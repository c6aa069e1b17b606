/** Calls one hook over HTTP: only 200 counts, 429 asks to come back later, everything else fails the sync. */
import { Agent } from 'undici';
import type { EpochMs, KubeObject } from '../../../api/kubernetes.ts';
import { parseDuration } from '../../../core/kube/duration.ts';
import type { ApiClient } from '../cluster/apiClient.ts';
import type { Engine, HookRequest, HookTransport } from '../cluster/engine.ts';
import { groupsText, jsonText } from '../json/objects.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Authorization, EndpointConfig, HookSpec, Webhook } from './controllerSpec.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
const IDLE_MS = 90_000;
const CONNECTIONS_PER_SERVER = 64;

/** Not a failure: the hook says when it wants to be asked again. */
export class TooManyRequests extends Error {
  readonly afterSeconds: number;
  constructor(afterSeconds: number) {
    super(`the hook asks to come back in ${afterSeconds} s`);
    this.afterSeconds = afterSeconds;
  }
}

export class HookClient {
  readonly #url: string;
  readonly #timeoutMs: number;
  readonly #transport: HookTransport;
  readonly #clock: Clock;
  readonly #headers: Record<string, string>;

  constructor(webhook: Webhook, transport: HookTransport, clock: Clock, authorization: string | undefined) {
    this.#url = webhook.url;
    this.#headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
    this.#timeoutMs = parseDuration(webhook.timeout) || DEFAULT_TIMEOUT_MS;
    this.#transport = transport;
    this.#clock = clock;
  }

  /** The body of a 200. Throws TooManyRequests on 429, an Error on anything else. */
  async call(body: HookRequest): Promise<string> {
    const request = { headers: this.#headers, body, timeoutMs: this.#timeoutMs };
    const { code, retryAfter, text } = await this.#transport(this.#url, request).catch((error: unknown) => {
      throw new Error(`calling ${this.#url} failed`, { cause: error });
    });
    if (code === 200) return text;
    if (code === 429) throw new TooManyRequests(retryAfterSeconds(retryAfter, this.#clock.now()));
    throw new Error(`${this.#url} answered ${code}: ${text.slice(0, 500)}`);
  }
}

/** Over HTTP, with one agent for all hooks of the process: connections are kept and shared per server. */
export function hooksOverHttp(): HookTransport {
  const agent = new Agent({
    connections: CONNECTIONS_PER_SERVER,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  });
  return async (url, { headers, body, timeoutMs }) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await agent.request({
      ...originAndPath(url),
      method: 'POST',
      headers,
      body: textOf(body),
      signal,
    });
    const text = await response.body.text();
    return { code: response.statusCode, retryAfter: String(response.headers['retry-after'] ?? ''), text };
  };
}

function textOf(request: HookRequest): string {
  const fields = Object.entries(request).map(([name, value]) => {
    const text = value instanceof Map ? groupsText(value) : typeof value === 'object' ? jsonText(value) : value;
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${fields.join()}}`;
}

/** As in Metacontroller, credentials are read once, when the controller starts. */
export async function hookClient(
  { webhook }: HookSpec,
  { hooks, clock, client }: Pick<Engine, 'hooks' | 'clock' | 'client'>,
  endpointConfigs: readonly EndpointConfig[] = [],
): Promise<HookClient> {
  const authorization = authorizationAt(webhook.url, endpointConfigs);
  return new HookClient(webhook, hooks, clock, authorization && (await authorizationHeader(authorization, client)));
}

function originAndPath(url: string): { origin: string; path: string } {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: `${pathname}${search}` };
}

/** Retry-After as seconds or as an HTTP date; 0, which means at once, when it is neither. */
export function retryAfterSeconds(retryAfter: string, now: EpochMs): number {
  if (/^-?\d+$/.test(retryAfter)) return Number(retryAfter);
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? 0 : Math.ceil((date - now) / 1000);
}

type Secret = KubeObject & { data?: Record<string, string> };

/** That of the hook's host. */
function authorizationAt(url: string, endpointConfigs: readonly EndpointConfig[]): Authorization | undefined {
  const { protocol, hostname, port, host } = new URL(url);
  const usual = protocol === 'https:' ? '443' : '80';
  const names = [host, `${hostname}:${port || usual}`];
  return endpointConfigs.find((config) => names.includes(config.host.toLowerCase()))?.authorization;
}

/** Reads the Secret with the engine's own rights. */
async function authorizationHeader(
  { secretRef }: Authorization,
  client: Pick<ApiClient, 'get'>,
): Promise<string> {
  const { namespace, name, key } = secretRef;
  const secret = await client.get<Secret>(`/api/v1/namespaces/${namespace}/secrets/${name}`);
  const value = secret.data?.[key];
  if (value === undefined) throw new Error(`authorization: Secret ${namespace}/${name} has no key ${key}`);
  return `Bearer ${Buffer.from(value, 'base64').toString('utf8').trim()}`;
}
