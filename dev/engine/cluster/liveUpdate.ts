/** Read-change-write on the live object, repeated on conflict: for writes that are right whatever else has changed. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import { ApiError } from '../../client/send.ts';
import { describe } from '../json/objects.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import { type ApiClient, isConflict } from './apiClient.ts';
import type { Resource } from './discovery.ts';

/** Waits before the second, third and fourth attempt. */
const RETRY_MS = [10, 50, 250];

/**
 * `change` gets the live object and returns the one to write, or undefined to leave it alone. Returns the object as it
 * is then. Throws 404 when the object is gone or another one has its name, 409 when every attempt met a conflict.
 */
export async function liveUpdate(
  client: ApiClient,
  clock: Clock,
  resource: Resource,
  original: KubeObject,
  change: (live: KubeObject) => KubeObject | undefined,
  subresource?: 'status',
): Promise<KubeObject> {
  for (let attempt = 0; ; attempt += 1) {
    const live = await client.read(resource, original);
    if (live.metadata.uid !== original.metadata.uid) {
      const message = `${describe(original)} was replaced by another object of that name`;
      throw new ApiError(404, 'NotFound', message);
    }
    const changed = change(live);
    if (!changed) return live;
    try {
      return await client.update(resource, changed, subresource);
    } catch (error) {
      const wait = RETRY_MS[attempt];
      if (!isConflict(error) || wait === undefined) throw error;
      await pause(clock, wait);
    }
  }
}
