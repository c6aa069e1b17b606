/** The state of a deployment, and whether it counts, by its entry in the history. */
import type { HistoryEntry, Rollout, RolloutStatus, VersionInfo } from '../../../api/types.ts';

/** Whether the deployment has not ended: it waits to be applied or for health, or it bakes. */
export function isUnfinished(head: HistoryEntry | undefined): boolean {
  return head?.bakeStatus === 'Deploying' || head?.bakeStatus === 'InProgress';
}

/** The newest deployment, if a closed Gate, or the suspension that it left behind, holds it while it rolls out. */
export function heldDeployment({ status }: Pick<Rollout, 'status'>): HistoryEntry | undefined {
  const [head] = status?.history ?? [];
  return isUnfinished(head) && head?.waitingSince !== undefined ? head : undefined;
}

/** Whether the bake itself has begun: all bound objects are applied, and all checks were Healthy. */
export function hasBakeBegun(head: HistoryEntry): boolean {
  return head.bakeStatus === 'InProgress';
}

/** Whether a user requested this deployment. */
export function isManual({ requestedBy, triggeredBy }: HistoryEntry): boolean {
  return requestedBy !== undefined || triggeredBy?.kind === 'User';
}

// The versions that count as succeeded. The newest deployment of a version decides: after a later failure, an earlier
// success is no reason to deploy the version again.

/** Whether the deployment counts for its version: not if it was cancelled before it had a result. */
export function isCounted({ bakeStatus, lastRetryTimestamp }: HistoryEntry): boolean {
  return bakeStatus !== 'Cancelled' || lastRetryTimestamp !== undefined;
}

/** The deployment that succeeded of each tag that counts as succeeded, the newest first. */
export function succeededDeployments(history: readonly HistoryEntry[]): HistoryEntry[] {
  const decided = new Set<string>();
  return history.filter((entry) => {
    const { tag } = entry.version;
    if (!isCounted(entry) || decided.has(tag)) return false;
    decided.add(tag);
    return entry.bakeStatus === 'Succeeded';
  });
}

// The image of a version, which may be another one by now than the one that was deployed.

interface ImageChange {
  reason: 'OtherImage' | 'TagMoved';
  /** A clause. */
  text: string;
}

interface ImageInputs {
  /** Newest first, with the deployment. */
  history: readonly HistoryEntry[];
  /** The image from whose tags releases are selected now. */
  image: string | undefined;
  available: readonly VersionInfo[];
}

/** Why the tag may now name another image than in `target`, the version's deployment; undefined if nothing shows it. */
export function imageChange(target: HistoryEntry, { history, image, available }: ImageInputs): ImageChange | undefined {
  const { tag, digest } = target.version;
  const other = imageOf(target, history);
  if (image !== undefined && other !== undefined && other !== image) {
    const text = `${tag} was deployed from ${other}, and the ImagePolicy now selects from ${image}`;
    return { reason: 'OtherImage', text };
  }
  const present = available.find((each) => each.tag === tag)?.digest;
  if (!digest || !present || digest === present) return undefined;
  return { reason: 'TagMoved', text: `the tag ${tag} has been moved to another image since it was deployed` };
}

/** A clause if a stored release shows that the deployment's tag was moved to another image. */
export function movedTagText(target: HistoryEntry, inputs: ImageInputs): string | undefined {
  const change = imageChange(target, inputs);
  return change?.reason === 'TagMoved' ? change.text : undefined;
}

/**
 * A clause if the tag of the newest deployment was moved. It isn't deployed again: Flux objects have the tag already,
 * and nothing would prove that they have applied the new image.
 */
export function movedHeadText({
  history = [],
  availableReleases: available = [],
  image,
}: RolloutStatus): string | undefined {
  const [head] = history;
  return head && movedTagText(head, { history, image, available });
}

/** The image of a deployment; of one without a record, that of the next deployment with one. */
function imageOf(target: HistoryEntry, history: readonly HistoryEntry[]): string | undefined {
  return history.slice(0, history.indexOf(target) + 1).findLast(({ image }) => image !== undefined)?.image;
}

// Deployments without bake settings: they end once Flux has applied them, and the next version doesn't wait for that.

/** Whether new deployments of the Rollout bake. */
export function bakes({ spec }: Pick<Rollout, 'spec'>): boolean {
  return spec?.bakeTime !== undefined || spec?.deployTimeout !== undefined || spec?.healthCheckSelector !== undefined;
}

/** Whether the deployment needs no bake. A bake that has started, or recorded HealthChecks, stays without settings. */
export function hasNoBake(head: HistoryEntry, rollout: Pick<Rollout, 'spec'>): boolean {
  return !bakes(rollout) && head.bakeStartTime === undefined && !head.knownHealth?.length;
}
