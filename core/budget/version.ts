/** Which versions are the same, for budgets: a tag of the same image. Applications that share a budget share neither failures nor waves. */
import type { Rollout } from '../../api/types.ts';
import { refKey } from '../kube/names.ts';
import { policyRef } from '../policy/imagePolicy.ts';

export interface ImageVersion {
  image: string;
  tag: string;
  digest?: string | undefined;
}

/** The image that a Rollout has releases of; while it is not known, those of one ImagePolicy are the same. */
export function imageOf(rollout: Rollout): string {
  const ref = policyRef(rollout);
  return rollout.status?.image ?? (ref ? `ImagePolicy ${refKey(ref)}` : '');
}

/** Without the digest, which not everybody knows: for maps. */
export function versionKey({ image, tag }: ImageVersion): string {
  return `${image}:${tag}`;
}

/** A tag that was moved is another version, where both know the digest. */
export function isSameVersion(a: ImageVersion, b: ImageVersion): boolean {
  return a.image === b.image && a.tag === b.tag && isSameDigest(a, b);
}

export function isSameDigest(a: { digest?: string | undefined }, b: { digest?: string | undefined }): boolean {
  return !a.digest || !b.digest || a.digest === b.digest;
}
