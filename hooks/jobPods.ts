/** The Pods of a Job, read live. */
import type { AnyObject } from '../api/kubernetes.ts';
import type { ClusterReader } from '../api/ports.ts';

export const JOB = { group: 'batch', kind: 'Job' };

/** The Pods that the Job has created, by their owner: any user who may create Pods can give them its label. */
export async function podsOfJob({ metadata }: AnyObject, atMost: number, cluster: ClusterReader): Promise<AnyObject[]> {
  const { namespace = '', name, uid } = metadata;
  const labelSelector = `batch.kubernetes.io/job-name=${name}`;
  const pods = await cluster.list<AnyObject>({ apiVersion: 'v1', resource: 'pods', namespace, labelSelector, atMost });
  return pods.filter((pod) => pod.metadata.ownerReferences?.some((owner) => owner.uid === uid));
}
