/** The resources that the API server serves, cached for a short while. */

import { isApiError } from './apiError.ts';
import { versionPath } from './paths.ts';
import { createSharedReads } from './sharedReads.ts';
import type { Transport } from './transport.ts';

const MAX_AGE_MS = 30_000;

export interface ApiResource {
  name: string;
  kind: string;
  namespaced: boolean;
}

/** The resources of an API version without subresources; empty if the version is not served. */
type Discovery = (apiVersion: string) => Promise<ApiResource[]>;

export function createDiscovery(
  transport: Pick<Transport, 'send'>,
  sharedReads = createSharedReads(() => performance.now()),
): Discovery {
  return (apiVersion) => sharedReads.recent(MAX_AGE_MS, `served ${apiVersion}`, () => discover(transport, apiVersion));
}

async function discover(transport: Pick<Transport, 'send'>, apiVersion: string): Promise<ApiResource[]> {
  try {
    const { resources } = await transport.send<{ resources: ApiResource[] }>({ path: versionPath(apiVersion) });
    return resources.filter(({ name }) => !name.includes('/'));
  } catch (error) {
    if (isApiError(error, 404)) return [];
    throw error;
  }
}
