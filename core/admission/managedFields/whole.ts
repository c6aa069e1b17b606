/**
 * A version arrives whole. Where one Rollout pins variables of a Kustomization and the OCIRepository that it applies, the variables follow
 * what the OCIRepository has fetched, and not the Rollout: manifests of one version are never applied with the variable of
 * another. Three parts (ADR 26):
 *
 * - the variables change when the source has fetched the deployment, in one write (mutate.ts);
 * - until then the Kustomization is suspended, so that it does not try the new artifact with the old variables (core/admission/suspend/suspension.ts),
 *   unless the source cannot fetch: then it goes on with what it has;
 * - the API server's policy refuses an attempt at any other artifact than the annotation ARTIFACT allows, whatever the order in
 *   which caches learn of it (manifests/policies/whole-versions.yaml), and any attempt by a controller that has not seen the suspension yet: with
 *   that comes a request to reconcile, which it echoes (mutate.ts).
 */
import { DEPLOYED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { DeploymentRef, Pin, Rollout } from '../../../api/types.ts';
import { findCondition } from '../../kube/conditions.ts';
import { writeBackName } from '../../policy/derivedPolicy.ts';
import { pinAnnotationsOf } from './annotations.ts';
import { deploymentOf, isSameVersion, parseDeployments } from './deployment.ts';
import { fetchedRevision, isOfTag, storedRevision } from './fetched.ts';

export interface Whole {
  /** The Rollout that pins both. */
  rollout: string;
  /** What it has deployed. */
  head?: DeploymentRef;
  /** What the source has fetched of it: the variables follow this. */
  fetched?: DeploymentRef;
  /** What the source is fetching: the Kustomization is suspended until it has it. */
  awaits?: DeploymentRef;
  /** Why the source does not fetch what the Rollout has deployed: the Kustomization goes on with what it has. */
  stuck?: string;
  /** The tag whose artifact may be applied; undefined while the variables stay as they are: so does the tag. */
  artifact?: string;
}

/**
 * undefined where no Rollout pins both, and where Git sets the fields. `pins` are those of the Kustomization, `source` is what its `spec.sourceRef` names, in the same
 * namespace; at most one Rollout owns its tag.
 */
export function wholeVersion(
  pins: readonly Pin[],
  rollouts: ReadonlyMap<string, Rollout>,
  source: FluxObject | undefined,
): Whole | undefined {
  const owner = source && pinAnnotationsOf(source).pins.find((pin) => pin.variable === undefined)?.rollout;
  if (!owner || !pins.some((pin) => pin.rollout === owner) || writeBackName(rollouts.get(owner))) return undefined;
  const carried = parseDeployments(source.metadata.annotations?.[DEPLOYED]).find(({ rollout }) => rollout === owner);
  const head = deploymentOf(rollouts.get(owner));
  const whole: Whole = { rollout: owner, ...(head && { head }) };
  const revision = fetchedRevision(source);
  if (carried && isOfTag(revision, carried.version)) {
    whole.fetched = carried;
    whole.artifact = carried.version;
  } else if (!carried && !head) whole.artifact = tagOf(storedRevision(source));
  if (!head || (whole.fetched && isSameVersion(whole.fetched, head))) return whole;
  const stuck = whyStuck(source, head);
  if (stuck === undefined) whole.awaits = head;
  else whole.stuck = stuck;
  return whole;
}

/** What an object that has not been seen together with its source may go on with: the artifact that is there, or none. */
export function artifactBefore(source: FluxObject | undefined): string {
  return tagOf(source && storedRevision(source));
}

/** OCI distribution specification. */
const MAX_TAG = 128;

/** Of `<tag>@<digest>`; empty, which allows no artifact, where nothing is fetched. */
function tagOf(revision: string | undefined): string {
  const tag = revision?.split('@', 1)[0] ?? '';
  return tag.length <= MAX_TAG ? tag : '';
}

/** It may be a long time until the source has the deployment, or for ever. */
function whyStuck(source: FluxObject, head: DeploymentRef): string | undefined {
  const { metadata, spec, status } = source;
  if (metadata.deletionTimestamp) return 'is being deleted';
  if (spec?.suspend === true) return 'is suspended';
  const tag = (spec?.ref as { tag?: unknown } | undefined)?.tag;
  if (tag !== head.version) return undefined;
  const failed = findCondition(status?.conditions, 'FetchFailed') ?? findCondition(status?.conditions, 'Ready');
  const isAboutThis = failed?.observedGeneration === metadata.generation;
  const isFailure = failed?.type === 'FetchFailed' ? failed.status === 'True' : failed?.status === 'False';
  return isAboutThis && isFailure ? `cannot fetch it (${failed?.reason})` : undefined;
}
