/**
 * A HelmRelease that follows a Rollout. None of its fields is pinned: the Rollout pins the OCIRepository of its `spec.chartRef`, and helm-controller
 * releases whatever that has fetched. Its status says of which artifact (docs/facts.md, F14).
 */
import { ROLLOUT } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { FluxBindingSpec } from '../../api/types.ts';
import { pinAnnotationsOf } from '../admission/managedFields/annotations.ts';
import { bounded, isCurrent } from '../admission/managedFields/fetched.ts';
import { findCondition } from '../kube/conditions.ts';
import { isMap } from '../kube/json.ts';

export const TRACKING_KIND: string = KINDS.HelmRelease.kind;

/** The digest of the OCI artifact whose chart was released with the spec as it is now, and found ready. */
export function releasedDigest(object: FluxObject): string | undefined {
  const { metadata, spec, status } = object;
  const ready = findCondition(status?.conditions, 'Ready');
  if (spec?.suspend === true || !isCurrent(object)) return undefined;
  if (ready?.status !== 'True' || ready.observedGeneration !== metadata.generation) return undefined;
  const { history } = (status ?? {}) as { history?: unknown };
  const newest: unknown = Array.isArray(history) ? history[0] : undefined;
  return isMap(newest) && newest.status === 'deployed' ? bounded(newest.ociDigest) : undefined;
}

/** Why no version of the Rollout can come to a follower, as its source is. */
export function whyNothingComes(
  { source: ref }: Pick<FluxBindingSpec, 'source'>,
  source: FluxObject | undefined,
  rollout: string,
): string | undefined {
  if (!ref) return undefined;
  const name = `${ref.kind} '${ref.name}'`;
  if (!source) return `${name} does not exist`;
  const isBound = pinAnnotationsOf(source).pins.some((pin) => pin.rollout === rollout);
  return isBound ? undefined : `${name} does not follow that Rollout: annotate it with ${ROLLOUT}=${rollout}`;
}
