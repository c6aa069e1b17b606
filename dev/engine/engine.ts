/** What all controllers of the process share. */
import type { Agent } from 'undici';
import type { ApiClient } from './apiClient.ts';
import type { Clock } from './clock.ts';
import type { Discovery } from './discovery.ts';
import type { SharedInformers } from './informers.ts';
import type { Log } from './log.ts';

export interface Engine {
  client: ApiClient;
  discovery: Discovery;
  informers: SharedInformers;
  hooks: Agent;
  clock: Clock;
  log: Log;
  /** Per controller. */
  workers: number;
  customizeCacheMs: number;
}
