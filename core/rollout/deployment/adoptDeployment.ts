/**
 * The adoption of a version: a Rollout that has lost its history (re-created, restored from Git) adopts the newest
 * deployment that its Flux objects carry. Otherwise it would deploy the newest release as its first deployment, which
 * RolloutGates may not hold.
 */
import { DEPLOYED } from '../../../api/annotations.ts';
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import type { DeploymentRef, HistoryEntry, VersionInfo } from '../../../api/types.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { formatTime } from '../../kube/time.ts';
import { parseDeployments } from '../../managedField/deployment.ts';
import { objectsBoundTo } from '../../managedField/managedFields.ts';
import { withoutFirstSeen } from '../release/metadata.ts';
import { BEGINNINGS, triggeredBy } from './entry.ts';

/** The largest id that is adopted: no Rollout has so many deployments. */
const MAX_ADOPTED_ID = 1e12;

const WITHOUT_BAKE: Pick<HistoryEntry, 'bakeStatus' | 'bakeStatusMessage'> = {
  bakeStatus: 'Succeeded',
  bakeStatusMessage: 'Adopted without a bake: the version was deployed before this Rollout was created.',
};

/** A deployment that a Flux object carries. */
export interface CarriedDeployment {
  deployment: DeploymentRef;
  /** The object: `Kustomization 'my-app'`. */
  by: string;
}

/** The Rollout's deployments on the objects bound to it; their uid may be that of an earlier Rollout of this name. */
export function deploymentsCarriedBy(objects: readonly AnyObject[], rollout: string): CarriedDeployment[] {
  return objectsBoundTo(rollout, objects).flatMap(({ kind, metadata }) => {
    const all = parseDeployments(metadata.annotations?.[DEPLOYED]);
    const deployment = all.find((each) => each.rollout === rollout);
    return deployment && isLegalTag(deployment.version) ? [{ deployment, by: `${kind} '${metadata.name}'` }] : [];
  });
}

/**
 * The newest carried deployment as the only entry of the history; undefined if none is carried.
 * If the Rollout bakes, it bakes like a new deployment: the lost history may have failed it.
 */
export function adoptedEntry(
  carried: readonly CarriedDeployment[],
  available: readonly VersionInfo[],
  bake: { bakes: boolean; knownHealth: HistoryEntry['knownHealth'] },
  now: EpochMs,
): HistoryEntry | undefined {
  const [newest] = [...carried].sort((a, b) => b.deployment.id - a.deployment.id || (a.by < b.by ? -1 : 1));
  if (!newest) return undefined;
  const { id, version } = newest.deployment;
  return {
    // A head without an id is carried as 0, and any user may have written an id that is too large to continue from.
    id: id > MAX_ADOPTED_ID ? 1 : Math.max(1, id),
    version: withoutFirstSeen(available.find(({ tag }) => tag === version) ?? { tag: version }),
    timestamp: formatTime(now),
    message: `Adopted from ${newest.by}, which carries it`,
    origin: ['Adopted'],
    triggeredBy: triggeredBy(false, undefined),
    ...(bake.bakes ? BEGINNINGS.bakes : WITHOUT_BAKE),
    ...(bake.bakes && bake.knownHealth && { knownHealth: bake.knownHealth }),
  };
}
