/** The user as the API server knows them. A kubeconfig's entry may have any name. */
import type { KubeClient } from '../kube/kubeClient.ts';

const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

interface Reviewed {
  status?: { userInfo?: { username?: string } };
}

/** undefined if the API server doesn't say: it is older, or does not answer. */
export async function whoAmI(client: KubeClient): Promise<string | undefined> {
  const to = { apiVersion: REVIEW.apiVersion, resource: 'selfsubjectreviews' };
  const answer = await client.create<Reviewed>(to, REVIEW).catch(() => undefined);
  return answer?.object.status?.userInfo?.username;
}
