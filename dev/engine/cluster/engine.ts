/** Services that all controllers of the process share. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { ObjectGroups } from '../json/objects.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { ApiClient } from './apiClient.ts';
import type { Discovery } from './discovery.ts';
import type { SharedInformers } from './informers.ts';

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
