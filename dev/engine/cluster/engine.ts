/** What all controllers of the process share. */
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { ApiClient } from './apiClient.ts';
import type { Discovery } from './discovery.ts';
import type { SharedInformers } from './informers.ts';

/** Posts JSON; rejects when nothing answers in time. */
export type HookTransport = (
  url: string,
  request: { headers: Record<string, string>; body: string; timeoutMs: number },
) => Promise<{ code: number; retryAfter: string; text: string }>;

export interface Engine {
  client: ApiClient;
  discovery: Discovery;
  informers: SharedInformers;
  hooks: HookTransport;
  clock: Clock;
  log: Log;
  /** Per controller. */
  workers: number;
  customizeCacheMs: number;
}
