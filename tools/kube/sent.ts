/** Sends planned writes to the API server. */
import type { AnyObject } from '../../api/kubernetes.ts';
import type { WriteRequest } from '../../client/actions/writes/plannedWrite.ts';
import type { KubeClient } from './kubeClient.ts';

/** Between the read and the write another client may write; more often than that it is a loop. */
export const MAX_WRITE_ATTEMPTS = 5;

export function sendWrite(client: KubeClient, { apiVersion, object, body, creates }: WriteRequest, dryRun = false) {
  const { resource, namespace, name } = object;
  const to = { apiVersion, resource, namespace: namespace || undefined };
  return creates
    ? client.create<AnyObject>(to, body, { dryRun })
    : client.patch<AnyObject>({ ...to, name }, body, { dryRun });
}
