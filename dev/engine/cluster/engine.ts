/** What all controllers of the process share. */
import type { Agent } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { ApiClient } from './apiClient.ts';
import type { Discovery } from './discovery.ts';
import type { SharedInformers } from './informers.ts';

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
