/** The deployed version of a Rollout, as an input of Flux Operator's ResourceSets. */
import type { Rollout } from '../../api/types.ts';
import { identityOf, refKey, shortHash } from '../kube/names.ts';
import { isLegalTag } from '../kube/tag.ts';
import { isDigest } from '../releaseCopy/manifest.ts';

export interface DeployedInput {
  /**
   * The input's id. ResourceSets derive names from it, so it is the same for every version of the Rollout, and after
   * the Rollout is created again.
   */
  id: string;
  namespace: string;
  rollout: string;
  tag: string;
  /** Empty if the ImagePolicy doesn't reflect it. */
  digest: string;
  /** The id of the deployment in the Rollout's history; empty if another writer left it out. */
  deployment: string;
}

/**
 * The input; undefined if nothing is deployed. ResourceSets render the values into manifests, so each must be a single
 * word of YAML.
 */
export function deployedInput(rollout: Rollout): DeployedInput | undefined {
  const head = rollout.status?.history?.[0];
  if (!head || !isLegalTag(head.version.tag)) return undefined;
  const { namespace, name } = identityOf(rollout);
  const { tag, digest = '' } = head.version;
  return {
    id: shortHash(refKey({ namespace, name })),
    namespace,
    rollout: name,
    tag,
    digest: isDigest(digest) ? digest : '',
    deployment: head.id === undefined ? '' : String(head.id),
  };
}
