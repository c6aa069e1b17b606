/**
 * A Rollout that lost its history (re-created, restored from Git) adopts the versions that the Flux objects carry,
 * instead of deploying the newest release in spite of its gates, as a first deployment.
 */
import { DEPLOYED } from '../../../api/annotations.ts';
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import type { DeploymentRef, HistoryEntry, VersionInfo } from '../../../api/types.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { formatTime } from '../../kube/time.ts';
import { parseDeployments } from '../../managedField/deployment.ts';
import { boundRollouts } from '../../managedField/managedFields.ts';
import { withoutFirstSeen } from '../release/metadata.ts';
import { triggeredBy } from './entry.ts';

/**
 * More deployments than any Rollout has; an id there has at most 15 digits, see core/managedField/deployment.ts.
 */
const MAX_ADOPTED_ID = 1e12;

/** A deployment that a Flux object carries. */
export interface CarriedDeployment {
  deployment: DeploymentRef;
  /** `Kustomization 'my-app'`. */
  by: string;
}

/** Whether the object's own annotations bind it to the Rollout. Its metadata is enough. */
export function isBoundTo({ metadata }: AnyObject, kind: string, rollout: string): boolean {
  // Asked of all objects of a namespace for each of its Rollouts: most are ruled out without parsing.
  if (!Object.values(metadata.annotations ?? {}).some((value) => value.includes(rollout))) return false;
  return boundRollouts({ kind, metadata }).includes(rollout);
}

/** This Rollout's deployment on an object bound to it; its uid may be that of an earlier Rollout of this name. */
export function carriedDeployment(object: AnyObject, kind: string, rollout: string): CarriedDeployment | undefined {
  if (!isBoundTo(object, kind, rollout)) return undefined;
  const deployment = parseDeployments(object.metadata.annotations?.[DEPLOYED]).find((s) => s.rollout === rollout);
  return deployment && isLegalTag(deployment.version)
    ? { deployment, by: `${kind} '${object.metadata.name}'` }
    : undefined;
}

/** The newest of what is carried becomes the whole history; undefined when nothing is. */
export function adopted(
  carried: readonly CarriedDeployment[],
  available: readonly VersionInfo[],
  now: EpochMs,
): HistoryEntry | undefined {
  const [newest] = [...carried].sort((a, b) => b.deployment.id - a.deployment.id || (a.by < b.by ? -1 : 1));
  if (!newest) return undefined;
  const { id, version } = newest.deployment;
  return {
    // A head without an id counts as 0, and a history begins with 1.
    // Any user may have written the annotation: the history must be able to continue.
    id: id > MAX_ADOPTED_ID ? 1 : Math.max(1, id),
    version: withoutFirstSeen(available.find(({ tag }) => tag === version) ?? { tag: version }),
    timestamp: formatTime(now),
    message: `Adopted from ${newest.by}, which carries it`,
    origin: ['Adopted'],
    triggeredBy: triggeredBy(false, undefined),
    bakeStatus: 'Succeeded',
    bakeStatusMessage: 'Adopted without a bake: the version was deployed before this Rollout was created.',
  };
}
