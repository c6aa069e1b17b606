/** Why the Pods of workloads do not run, by live reads. Whoever may not read them is told less, and nothing else changes. */
import type { UserInfo } from '../../api/admission.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { AccessReviewer, ClusterReader } from '../../api/ports.ts';
import type { Since } from '../../core/health/objects/broken.ts';
import { causeOf, PODS_OF_WORKLOAD, type PodQuery, podQueries } from '../../core/health/objects/pods.ts';
import type { ObservedResource } from '../../core/health/objects/resources.ts';

export interface PodReader {
  cluster: ClusterReader;
  access: AccessReviewer;
  /** As whom the workloads were applied: no Pods are read that it may not read. undefined: it may all. */
  account: UserInfo | undefined;
}

/** The same objects, with the cause of those that are in trouble. Never rejects. */
export async function withCauses(
  observed: readonly ObservedResource[],
  reader: PodReader,
  since: Since,
  now: EpochMs,
): Promise<ObservedResource[]> {
  const causes = new Map<ObservedResource, string | undefined>();
  for (const query of podQueries(observed, since, now)) causes.set(query.workload, await causeBehind(query, reader));
  return observed.map((resource) => (causes.get(resource) ? { ...resource, cause: causes.get(resource) } : resource));
}

async function causeBehind(
  { namespace, labelSelector }: PodQuery,
  { cluster, access, account }: PodReader,
): Promise<string | undefined> {
  try {
    const what = { verb: 'list', group: '', resource: 'pods', namespace, name: '' };
    if (account && !(await access.may(account, what))) return undefined;
    return causeOf(await podsOf(cluster, namespace, labelSelector));
  } catch {
    // A cause is help, no part of the verdict.
    return undefined;
  }
}

function podsOf(cluster: ClusterReader, namespace: string, labelSelector: string): Promise<KubeObject<any, any>[]> {
  return cluster.list({ apiVersion: 'v1', resource: 'pods', namespace, labelSelector, atMost: PODS_OF_WORKLOAD });
}
