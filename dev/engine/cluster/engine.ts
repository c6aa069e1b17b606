/** Services that all controllers of the process share. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Access } from '../../client/kubeconfig.ts';
import type { ObjectGroups } from '../json/objects.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { ApiClient } from './apiClient.ts';
import { Discovery } from './discovery.ts';
import { SharedInformers } from './informers.ts';

/** A request for a hook, by the names of its fields. */
export type HookRequest = Record<string, KubeObject | ObjectGroups | boolean>;

/** Posts it as JSON; rejects when nothing answers in time. */
export type HookTransport = (
  url: string,
  request: { headers: Record<string, string>; body: HookRequest; timeoutMs: number },
) => Promise<{ code: number; retryAfter: string; text: string }>;

export interface Engine {
  client: ApiClient;
  discovery: Discovery;
  informers: SharedInformers;
  hooks: HookTransport;
  clock: Clock;
  log: Log;
}

/** The services at an API server. `signal` ends their requests. */
export function createEngine(
  access: Access,
  { hooks, clock, log }: Pick<Engine, 'hooks' | 'clock' | 'log'>,
  signal: AbortSignal,
): Engine {
  const client = new ApiClient(access, clock, signal);
  const [discovery, informers] = [new Discovery(client, clock), new SharedInformers(client, clock, log)];
  return { client, discovery, informers, hooks, clock, log };
}
