/** Sends planned writes to the API server. */
import type { AnyObject } from '../../api/kubernetes.ts';
import type { WriteRequest } from '../../client/actions/writes/plannedWrite.ts';
import type { KubeClient } from './kubeClient.ts';

/** The most attempts of a write that conflicts with writes of other clients; further conflicts mean a loop. */
export const MAX_WRITE_ATTEMPTS = 5;

/** Sends a write to the API server. */
export function sendWrite(client: KubeClient, { apiVersion, object, body, creates }: WriteRequest, dryRun = false) {
  const { resource, namespace, name } = object;
  const to = { apiVersion, resource, namespace: namespace || undefined };
  return creates
    ? client.create<AnyObject>(to, body, { dryRun })
    : client.patch<AnyObject>({ ...to, name }, body, { dryRun });
}
