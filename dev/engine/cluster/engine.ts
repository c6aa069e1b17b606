/** Services that all controllers of the process share. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Access } from '../../client/kubeconfig.ts';
import type { Resource } from '../../client/resources.ts';
import type { ObjectGroups } from '../json/objects.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { ApiClient } from './apiClient.ts';
import { Informer } from './informer.ts';

/** A request for a hook, by the names of its fields. */
export type HookRequest = Record<string, KubeObject | ObjectGroups | boolean>;

/** Posts it as JSON; rejects when nothing answers in time. */
export type HookTransport = (
  url: string,
  request: { headers: Record<string, string>; body: HookRequest; timeoutMs: number },
) => Promise<{ code: number; retryAfter: string; text: string }>;

export interface Engine {
  client: ApiClient;
  /** The cache of a resource, started at the first use and shared by all controllers until the engine ends. */
  informer(resource: Resource): Informer;
  hooks: HookTransport;
  clock: Clock;
  log: Log;
}

/** The services at an API server. `signal` ends their requests and caches. */
export function createEngine(
  access: Access,
  { hooks, clock, log }: Pick<Engine, 'hooks' | 'clock' | 'log'>,
  signal: AbortSignal,
): Engine {
  const client = new ApiClient(access, clock, signal);
  const informers = new Map<string, Informer>();
  const informer = (resource: Resource) => {
    const key = `${resource.apiVersion}/${resource.name}`;
    const found = informers.get(key) ?? new Informer(resource, { client, clock, log, signal });
    informers.set(key, found);
    return found;
  };
  return { client, informer, hooks, clock, log };
}
