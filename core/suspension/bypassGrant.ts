/**
 * A bypass grant: one deployment of a Rollout may bypass closed Gates, its own and those of the objects bound to it.
 *
 * The webhook writes the grant into the Rollout's annotation BYPASSED_GATES,
 * `<version> (<id>) <time>: ns/a@<closure>,…`, for a user who may bypass each of these Gates; a text that another
 * writer puts there is dropped. A long list is stored as hashes. Nothing has to remove a used grant. It names one
 * deployment by its id, and each Gate by its closure, so it covers neither the next deployment nor a Gate that has
 * closed again.
 */
import { BYPASSED_GATES } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBindingStatus, HistoryEntry, Rollout } from '../../api/types.ts';
import { closureKeys, isLimit, LIMIT_OF_GATES, LIMIT_OF_ROLLOUTS, reportedClosed } from '../gate/closedGates.ts';
import { shortHash } from '../kube/names.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { rolloutsOfObject } from '../managedField/managedFields.ts';
import { containsAll, MAX_GATE_LIST_CHARACTERS, reportedState } from '../objectGates/objectState.ts';

/** The record of a deployment that may bypass closed Gates. */
export interface BypassGrant {
  version: string;
  /** Id of the deployment. */
  id: number;
  grantedAt: EpochMs;
  /** The bypassed closures, in the form of `closureKeys` or as hashes of it. */
  closures: readonly string[];
}

/** The hash of a closure, in a form that no Gate's name can have. */
const hashOf = (closure: string) => `#${shortHash(closure)}`;

/**
 * A function that returns whether a closure is one of these, which may be stored as hashes. A grant lists one limit and
 * covers every limit, because each needs the right on all Gates.
 */
function isAmong(closures: readonly string[]): (closure: string) => boolean {
  const granted = new Set(closures);
  const has = (closure: string) => granted.has(closure) || granted.has(hashOf(closure));
  const hasLimit = [LIMIT_OF_GATES, LIMIT_OF_ROLLOUTS].some(has);
  return (closure) => has(closure) || (hasLimit && isLimit(closure));
}

/** The longest duration of a bypass: a deployment that is never applied must not keep its objects running forever. */
const MAX_BYPASS_MS = 3_600_000;

const GRANT = /^(\S{1,128}) \((\d{1,15})\) (\S{1,40}): (.+)$/;

/** The text of the grant. Closures whose names are too long together are stored as hashes. */
export function formatBypassGrant({ version, id, grantedAt, closures }: BypassGrant): string {
  const list = [...closures].sort().join(',');
  // A user who binds an object to the Rollout may name many Gates with long names on it. Their list must leave room for
  // the Rollout's other annotations, or no user could bypass them.
  const stored = list.length > MAX_GATE_LIST_CHARACTERS ? closures.map(hashOf).sort().join(',') : list;
  return `${version} (${id}) ${formatTime(grantedAt)}: ${stored}`;
}

/** The grant in the Rollout's annotation; undefined if it is for another deployment, or has another format. */
function grantFor(
  { metadata }: Rollout,
  deployment: { id: number; version: string | undefined },
): Pick<BypassGrant, 'grantedAt' | 'closures'> | undefined {
  const [, version, id, time, closures] = GRANT.exec(metadata.annotations?.[BYPASSED_GATES] ?? '') ?? [];
  const grantedAt = parseTime(time);
  if (grantedAt === undefined || version !== deployment.version || Number(id) !== deployment.id) return undefined;
  return { grantedAt, closures: closures!.split(',') };
}

/**
 * A function that returns whether the next deployment may bypass a closure, if it is of this version.
 * @param head the newest deployment: the next one has the id after it
 */
export function mayBypass(
  rollout: Rollout,
  head: HistoryEntry | undefined,
  version: string | undefined,
): (closure: string) => boolean {
  return isAmong(grantFor(rollout, { id: (head?.id ?? 0) + 1, version })?.closures ?? []);
}

/** Whether the newest deployment may bypass all of these closures now. */
export function grantCovers(rollout: Rollout, closures: readonly string[], now: EpochMs): boolean {
  const grant = currentGrant(rollout);
  return grant !== undefined && now < grant.end && closures.length > 0 && closures.every(isAmong(grant.closures));
}

/**
 * The newest deployment's grant. From its end on, the objects are held again, even if the deployment isn't applied yet.
 * undefined if the deployment has no grant, is no longer rolling out, or was retried. A failure ends the grant for
 * good, because a retry needs no right on the Gates.
 */
export function currentGrant(rollout: Rollout): { closures: readonly string[]; end: EpochMs } | undefined {
  const [head] = rollout.status?.history ?? [];
  const grant = head && grantFor(rollout, { id: head.id ?? 0, version: head.version.tag });
  if (!grant || !isRollingOut(head)) return undefined;
  const { grantedAt, closures } = grant;
  const retried = parseTime(head.lastRetryTimestamp);
  if (retried !== undefined && retried > grantedAt) return undefined;
  return { closures, end: Math.max(grantedAt, parseTime(head.timestamp) ?? 0) + MAX_BYPASS_MS };
}

/**
 * Whether a deployment is still rolling out: neither failed nor cancelled, nor proven to be applied in every bound
 * object.
 */
export function isRollingOut({ appliedTime, bakeStatus }: HistoryEntry): boolean {
  return appliedTime === undefined && bakeStatus !== 'Failed' && bakeStatus !== 'Cancelled';
}

/**
 * Whether Flux has acted on the object before. An object that was created behind a closed Gate has a spec that never
 * ran: no deployment releases it.
 */
export function hasEverReconciled({ status }: FluxObject): boolean {
  const { artifact, lastAppliedRevision, history } = (status ?? {}) as Record<string, unknown>;
  return Boolean(artifact ?? lastAppliedRevision ?? (Array.isArray(history) && history.length > 0));
}

/**
 * The Rollouts of the stored object, by name, whose newest deployment may bypass these closures; none if the object has
 * never run.
 */
export function bypassingRollouts(
  old: FluxObject | undefined,
  closures: readonly string[],
  { rollouts, now }: { rollouts: ReadonlyMap<string, Rollout>; now: EpochMs },
): Map<string, Rollout> {
  if (!old || !hasEverReconciled(old)) return new Map();
  const bound = new Set(rolloutsOfObject(old));
  return new Map([...rollouts].filter(([name, rollout]) => bound.has(name) && grantCovers(rollout, closures, now)));
}

/**
 * Whether the object bypasses these closures according to its FluxBinding. A closure that is newer than the FluxBinding
 * counts as not bypassed. The decorator decides from the FluxBinding, because it may not relate yet a Rollout that the
 * annotations have just named.
 */
export function isReportedBypassing(
  bindingStatus: FluxBindingStatus | undefined,
  closures: readonly string[],
): boolean {
  if (!bindingStatus || reportedState(bindingStatus) !== 'bypassing') return false;
  return containsAll(closureKeys(reportedClosed(bindingStatus.gates)), closures);
}
