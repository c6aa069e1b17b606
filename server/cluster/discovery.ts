/** What the API server serves, cached for a short while. */
import { ApiError, type Transport } from './transport.ts';

const FRESH_MS = 30_000;

export interface ApiResource {
  name: string;
  kind: string;
  namespaced: boolean;
}

/** Resources of an API version, subresources left out; none when the version is not served. */
export type Discovery = (apiVersion: string) => Promise<ApiResource[]>;

/** @param clock milliseconds that only grow */
export function createDiscovery(transport: Transport, clock: () => number): Discovery {
  const known = new Map<string, { at: number; resources: Promise<ApiResource[]> }>();
  return (apiVersion) => {
    const before = known.get(apiVersion);
    if (before && clock() - before.at < FRESH_MS) return before.resources;
    const resources = discover(transport, apiVersion);
    known.set(apiVersion, { at: clock(), resources });
    resources.catch(() => known.delete(apiVersion));
    return resources;
  };
}

async function discover(transport: Transport, apiVersion: string): Promise<ApiResource[]> {
  try {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { resources } = await transport.send<{ resources: ApiResource[] }>({ path });
    return resources.filter(({ name }) => !name.includes('/'));
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return [];
    throw error;
  }
}
