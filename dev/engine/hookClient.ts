/** Calls one hook over HTTP: only 200 counts, 429 asks to come back later, everything else fails the sync. */
import { Agent } from 'undici';
import type { EpochMs } from '../../api/kubernetes.ts';
import { parseDuration } from '../../core/kube/duration.ts';
import type { Clock } from './clock.ts';
import { type EndpointConfig, type HookSpec, NotSupportedError, type Webhook } from './controllerSpec.ts';
import { authorizationHeader, endpointOf } from './endpoint.ts';
import type { Engine } from './engine.ts';

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
  readonly strict: boolean;
  readonly #url: string;
  readonly #timeoutMs: number;
  readonly #agent: Agent;
  readonly #clock: Clock;

  readonly #headers: Record<string, string>;

  constructor(webhook: Webhook, agent: Agent, clock: Clock, authorization: string | undefined) {
    this.#url = webhookUrl(webhook);
    this.#headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
    this.#timeoutMs = parseDuration(webhook.timeout) || DEFAULT_TIMEOUT_MS;
    this.strict = webhook.responseUnMarshallMode !== 'loose';
    this.#agent = agent;
    this.#clock = clock;
  }

  /** The body of a 200. Throws TooManyRequests on 429, an Error on anything else. */
  async call(body: string): Promise<string> {
    const response = await this.#agent
      .request({
        ...originAndPath(this.#url),
        method: 'POST',
        headers: this.#headers,
        body,
        signal: AbortSignal.timeout(this.#timeoutMs),
      })
      .catch((error: unknown) => {
        throw new Error(`calling ${this.#url} failed`, { cause: error });
      });
    const answer = await response.body.text();
    if (response.statusCode === 200) return answer;
    if (response.statusCode === 429) {
      throw new TooManyRequests(retryAfterSeconds(String(response.headers['retry-after'] ?? ''), this.#clock.now()));
    }
    throw new Error(`${this.#url} answered ${response.statusCode}: ${answer.slice(0, 500)}`);
  }
}

/** One agent for all hooks of the process: connections are kept and shared per server. */
export function hookAgent(): Agent {
  return new Agent({ connections: CONNECTIONS_PER_SERVER, keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS });
}

/**
 * Undefined when the hook is not defined. Throws NotSupportedError for what only the real Metacontroller does.
 * As there, credentials are read once, when the controller starts.
 */
export async function hookClient(
  name: string,
  hook: HookSpec | undefined,
  { hooks, clock, client }: Pick<Engine, 'hooks' | 'clock' | 'client'>,
  endpointConfigs: readonly EndpointConfig[] = [],
): Promise<HookClient | undefined> {
  if (!hook?.webhook) return undefined;
  if (hook.version !== 'v2') throw new NotSupportedError(`${name} hook: only version v2 is supported here`);
  if (hook.webhook.etag?.enabled) throw new NotSupportedError(`${name} hook: etag is not supported here`);
  const endpoint = endpointOf(hook.webhook, webhookUrl(hook.webhook), endpointConfigs);
  if (endpoint?.caBundle || endpoint?.clientTLS || endpoint?.basicAuth) {
    throw new NotSupportedError(`${name} hook: of authentication only tokens are supported here, no private CAs`);
  }
  const authorization = endpoint?.authorization && (await authorizationHeader(endpoint.authorization, client));
  return new HookClient(hook.webhook, hooks, clock, authorization);
}

function webhookUrl({ url, service, path }: Webhook): string {
  if (url) return url;
  if (!service?.name || !service.namespace || !path) {
    throw new Error('invalid webhook: give either url, or path and service with name and namespace');
  }
  return `${service.protocol ?? 'http'}://${service.name}.${service.namespace}:${service.port ?? 80}${path}`;
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
