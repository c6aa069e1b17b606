/** The server's own connections to the API server. */
import { KubeConfig } from '@kubernetes/client-node';
import { type ConnectionOptions, connectApi, type Request } from './connection.ts';

export interface Transport {
  /** The parsed JSON answer. @throws ApiError for any status but 2xx, and if there is no answer in time */
  send<T>(request: Request): Promise<T>;
  close(): void;
}

/** Shorter than the 5 s that the API server waits for the webhook, so that a slow read ends in a clear 500 of ours. */
const TIMEOUT_MS = 4000;

export function loadKubeConfig(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromDefault();
  return config;
}

/** A transport to the API server. @param count called for each request that is sent, answered or not */
export function createTransport(
  config: KubeConfig,
  { maxSockets }: Required<Pick<ConnectionOptions, 'maxSockets'>>,
  count: () => void = () => {},
): Transport {
  const headers = { 'user-agent': 'rollout-hooks' };
  const { send, close } = connectApi(config, { timeoutMs: TIMEOUT_MS, headers, maxSockets });
  return {
    async send<T>(request: Request) {
      count();
      return (await send<T>(request)).object;
    },
    close,
  };
}
