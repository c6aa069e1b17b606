/**
 * A bypass grant lets one deployment of a Rollout bypass closed Gates: its own and those of the objects bound to
 * it, which then run.
 * The webhook records it in the annotation BYPASSED_GATES, `<version> (<id>): ns/a@<closing>,…`, for a user who may
 * bypass each of these Gates. Only the webhook writes the annotation.
 * A grant is limited to these closings and this deployment, so nothing has to consume it.
 */
import { BYPASSED_BY, BYPASSED_GATES } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBindingStatus, HistoryEntry, Rollout } from '../../api/types.ts';
import { parseTime } from '../kube/time.ts';
import { boundRollouts } from '../managedField/managedFields.ts';
import { closingKey } from './stateAnnotation.ts';

export interface BypassGrant {
  version: string;
  /** Id of the deployment. */
  id: number;
  /** In the form of `closingKey`. */
  closings: readonly string[];
}

/** A deployment that is never applied must not keep its objects running forever. */
const LASTS_MS = 3_600_000;

const GRANT = /^(\S{1,128}) \((\d{1,15})\): (.+)$/;

export function formatBypassGrant({ version, id, closings }: BypassGrant): string {
  return `${version} (${id}): ${[...closings].sort().join(',')}`;
}

/** The grant of the Rollout; undefined if it has none, or the annotation has another format. */
export function bypassGrantOf({ metadata }: Rollout): BypassGrant | undefined {
  const [, version, id, closings] = GRANT.exec(metadata.annotations?.[BYPASSED_GATES] ?? '') ?? [];
  if (version === undefined || closings === undefined) return undefined;
  return { version, id: Number(id), closings: closings.split(',') };
}

/** The closings that a deployment of this version may bypass, if it follows `head`. */
export function bypassedClosings(
  rollout: Rollout,
  head: HistoryEntry | undefined,
  version: string,
): ReadonlySet<string> {
  const grant = bypassGrantOf(rollout);
  const isIt = grant?.version === version && grant.id === (head?.id ?? 0) + 1;
  return new Set(isIt ? grant.closings : []);
}

/** Whether the newest deployment is rolling out and bypasses all these closings, which are in force now. */
export function bypassesGates(rollout: Rollout, closings: readonly string[], now: EpochMs): boolean {
  const end = bypassGrantEnds(rollout);
  if (end === undefined || now >= end || closings.length === 0) return false;
  const granted = new Set(bypassGrantOf(rollout)?.closings);
  return closings.every((closing) => granted.has(closing));
}

/**
 * When the grant ends and its objects are held again, even if the deployment is not applied yet; undefined if no
 * deployment is rolling out under a grant.
 */
export function bypassGrantEnds(rollout: Rollout): EpochMs | undefined {
  const grant = bypassGrantOf(rollout);
  const [head] = rollout.status?.history ?? [];
  if (!grant || !head || !isUnderWay(head)) return undefined;
  if ((head.id ?? 0) !== grant.id || head.version.tag !== grant.version) return undefined;
  const given = parseTime(rollout.metadata.annotations?.[BYPASSED_BY]?.split(' ')[0]);
  return Math.max(given ?? 0, parseTime(head.timestamp) ?? 0) + LASTS_MS;
}

/** Whether a deployment is neither proven to be applied in every bound object, nor failed or cancelled. */
export function isUnderWay({ appliedTime, bakeStatus }: HistoryEntry): boolean {
  return appliedTime === undefined && bakeStatus !== 'Failed' && bakeStatus !== 'Cancelled';
}

/**
 * Whether Flux has acted on the object before.
 * An object created behind a closed Gate has a spec that has never run anywhere, and no deployment lets it run.
 */
export function hasRun({ status }: FluxObject): boolean {
  const { artifact, lastAppliedRevision, history } = (status ?? {}) as Record<string, unknown>;
  return Boolean(artifact ?? lastAppliedRevision ?? (Array.isArray(history) && history.length > 0));
}

/** The bound Rollouts, by name, whose deployments may be written into the stored object in spite of these closings. */
export function bypassingRollouts(
  oldObject: FluxObject | undefined,
  closings: readonly string[],
  { rollouts, now }: { rollouts: ReadonlyMap<string, Rollout>; now: EpochMs },
): Map<string, Rollout> {
  const names = oldObject && hasRun(oldObject) ? boundRollouts(oldObject) : [];
  return new Map(
    names.flatMap((name) => {
      const rollout = rollouts.get(name);
      return rollout && bypassesGates(rollout, closings, now) ? [[name, rollout] as const] : [];
    }),
  );
}

/**
 * Whether the object bypasses these closings according to its FluxBinding, which may lack the newest closing.
 * For the decorator that has no Rollouts.
 */
export function isSeenBypassing(
  object: FluxObject,
  observed: FluxBindingStatus | undefined,
  closings: readonly string[],
): boolean {
  if (!observed?.passing?.length || !hasRun(object)) return false;
  const known = new Set((observed.gates ?? []).map((gate) => closingKey({ ref: gate, closing: gate.closing })));
  return closings.every((closing) => known.has(closing));
}
