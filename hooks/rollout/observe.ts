/** Reads the inputs of a Rollout's first plan. Most come from Metacontroller's caches, which may be stale. */
import type { ImagePolicy } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { CompositeRequest, ObjectMap } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { byRefKey } from '../../core/kube/names.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { isControlledBy } from '../../core/kube/ownerReferences.ts';
import { writeBackName } from '../../core/policy/derivedPolicy.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { gatesOfRollouts } from '../../core/rollout/evaluation/gatesOfRollout.ts';
import type { Observed } from '../../core/rollout/evaluation/observed.ts';
import { forbiddenProblems, withAllowedRefs } from '../../core/rollout/evaluation/specProblems.ts';
import { authorsWanted } from '../../core/rollout/evaluation/versionApprovals.ts';
import {
  type Child,
  configMapChild,
  foreignMessage,
  notInstalledMessage,
  policyChild,
} from '../../core/rollout/ownedObjects.ts';
import { ownNamespaceLabels } from '../customizeRules.ts';
import { copyingOf } from './copyReads.ts';
import { watchedChecks } from './healthReads.ts';
import { liveImagePolicy, metadataOf, upstreamOf } from './liveReads.ts';

/** The inputs of a plan: related objects, which may be stale; and live reads of consent, children and Jobs. */
export async function observe(request: CompositeRequest<Rollout>, call: HookCall): Promise<Observed> {
  const { parent: rollout, related } = request;
  const { namespace = '' } = rollout.metadata;
  const withinRules = withAllowedRefs(rollout, call.settings);
  const imagePolicy = await imagePolicyOf(withinRules, related, call.cluster);
  const relatedGates = objectsOf<Gate>(related, KINDS.Gate);
  const gates = byRefKey(relatedGates);
  const rolloutGates = objectsOf<RolloutGate>(related, KINDS.RolloutGate);
  const namespaceLabels = await ownNamespaceLabels(namespace, related, relatedGates, call.cluster);
  const watched = await watchedChecks(rollout, objectsOf<HealthCheck>(related, KINDS.HealthCheck), call);
  const upstream = await upstreamOf(withinRules, call, objectsOf<Rollout>(related, KINDS.Rollout));
  const copying = await copyingOf(request, imagePolicy, call);
  const derivedPolicy = objectAt<ImagePolicy>(
    request.children,
    KINDS.ImagePolicy,
    namespace,
    writeBackName(rollout) ?? '',
  );
  const writeBackProblem = await childProblem(policyChild(rollout), request, call.cluster);
  return {
    rollout,
    imagePolicy,
    copying,
    derivedPolicy,
    writeBackProblem,
    rolloutGates,
    bindings: objectsOf<FluxBinding>(related, KINDS.FluxBinding),
    ...watched,
    problems: [
      ...forbiddenProblems(rollout, call.settings),
      ...watched.problems,
      ...(writeBackProblem ? [writeBackProblem] : []),
    ],
    // Gates of bound objects aren't related: readBlockers adds them.
    requiredGates: gatesOfRollouts([withinRules], [], { gates: relatedGates, namespaceLabels }),
    gates,
    upstream,
    carried: [],
    ...metadataOf(rollout, imagePolicy, authorsWanted(rolloutGates, gates, rollout), call),
    configMapProblem: await childProblem(configMapChild(rollout), request, call.cluster),
    settings: call.settings,
  };
}

/** The Rollout's ImagePolicy, read live if the customize answer is older than the ImagePolicy or its CRD. */
async function imagePolicyOf(
  rollout: Rollout,
  related: ObjectMap,
  cluster: ClusterReader,
): Promise<ImagePolicy | undefined> {
  const ref = policyRef(rollout);
  if (!ref) return undefined;
  const cached = objectAt<ImagePolicy>(related, KINDS.ImagePolicy, ref.namespace, ref.name);
  return cached ?? liveImagePolicy(rollout, cluster);
}

/**
 * Why a child can't be written: the installation lacks its kind, or another object has its name. Metacontroller sends
 * only our own children, so a missing child is either not created yet, or its name is taken.
 */
async function childProblem(
  child: Child | undefined,
  { parent: rollout, children }: CompositeRequest<Rollout>,
  cluster: ClusterReader,
): Promise<string | undefined> {
  if (!child || rollout.metadata.deletionTimestamp) return undefined;
  const { kind, apiVersion, resource, name } = child;
  const { namespace = '' } = rollout.metadata;
  // Metacontroller sends a map, even if empty, for each kind of child that the controller has.
  const ours = children?.[`${kind}.${apiVersion}`];
  if (!ours) return notInstalledMessage(child);
  if (ours[`${namespace}/${name}`]) return undefined;
  const found = await cluster.get({ apiVersion, resource, namespace, name });
  return found && !isControlledBy(found, rollout.metadata.uid) ? foreignMessage(child) : undefined;
}
