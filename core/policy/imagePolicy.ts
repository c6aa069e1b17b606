/** The fields of an ImagePolicy that a Rollout reads. */
import { READY } from '../../api/conditions.ts';
import type { ImagePolicy } from '../../api/flux.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { isLegalTag } from '../kube/tag.ts';

/** The tag and digest that the policy selected last; v1beta2 of older Flux has `image:tag` in one text. */
export function latestOf(policy: ImagePolicy | undefined): { tag: string; digest?: string } | undefined {
  const { latestRef, latestImage } = policy?.status ?? {};
  const tag = latestRef?.tag || /:([^:/@]+)(?:@|$)/.exec(latestImage ?? '')?.[1];
  if (!tag) return undefined;
  return latestRef?.digest ? { tag, digest: latestRef.digest } : { tag };
}

/** The selected text if it is not a tag, so that it can't be deployed. */
export function illegalTag(policy: ImagePolicy | undefined): string | undefined {
  const tag = latestOf(policy)?.tag;
  return tag === undefined || isLegalTag(tag) ? undefined : tag;
}

/** The tag that Flux has selected by the present spec; undefined if the status is of an older spec, or not Ready. */
export function selectedTag(policy: ImagePolicy | undefined): string | undefined {
  const { observedGeneration, conditions } = policy?.status ?? {};
  const isOfThis = observedGeneration !== undefined && observedGeneration === policy?.metadata.generation;
  return isOfThis && findCondition(conditions, READY)?.status === 'True' ? latestOf(policy)?.tag : undefined;
}

/** Characters of an image name, which is stored in the status of Rollouts and budgets. No real one is longer. */
const MAX_IMAGE = 512;

/** The image from whose tags the policy selects, without tag and digest. */
export function imageNameOf(policy: ImagePolicy | undefined): string | undefined {
  const { latestRef, latestImage } = policy?.status ?? {};
  const name = latestRef?.name || /^(.+):[^:/@]+(?:@.*)?$/.exec((latestImage ?? '').slice(0, 2 * MAX_IMAGE))?.[1];
  return name && name.length <= MAX_IMAGE ? name : undefined;
}

/** The image of the Rollout's releases: the policy's, or the last known while the policy is missing. */
export function imageOfReleases({ status }: Rollout, policy: ImagePolicy | undefined): string | undefined {
  return imageNameOf(policy) ?? status?.image;
}

/** The reason of a blocker. The condition Ready has the Go controller's reason, RolloutFailed. */
export const IMAGE_POLICY_NOT_FOUND = 'ImagePolicyNotFound';

/** The ImagePolicy that the Rollout names; undefined if its spec names none. */
export function policyRef({ metadata, spec }: Rollout): NamespacedName | undefined {
  const { name, namespace } = spec?.releasesImagePolicy ?? {};
  return name ? { namespace: namespace || metadata.namespace || '', name } : undefined;
}

/** The ImageRepository that the policy names; undefined if its spec names none. */
export function repositoryRef({ metadata, spec }: ImagePolicy): NamespacedName | undefined {
  const { name, namespace } = spec?.imageRepositoryRef ?? {};
  return name ? { namespace: namespace || metadata.namespace || '', name } : undefined;
}
