/**
 * The objects that Metacontroller sends with a Rollout, whose changes trigger its sync; and the inputs of the first
 * plan, which are read from them. They come from caches, which may be stale.
 */
import { ROLLOUT_NAME_LABEL, SELECTS_ROLLOUTS_LABEL } from '../../api/annotations.ts';
import type { ImagePolicy } from '../../api/flux.ts';
import { FLUX_BINDINGS, GATES, KINDS, ROLLOUT_GATES, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { CompositeRequest, ObjectMap, RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { boundLabel } from '../../core/binding/bindingSpec.ts';
import { slotRules } from '../../core/budget/selectingBudgets.ts';
import { gatesNamedBy } from '../../core/gate/gateRefs.ts';
import { selectingGateRules } from '../../core/gate/gateSelection.ts';
import { byRefKey, labelValue } from '../../core/kube/names.ts';
import { objectAt, objectsOf, sendsKind } from '../../core/kube/objectMap.ts';
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
import { upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import { readUpstream, servedVersion } from '../../live/objectReads.ts';
import { namedRules, namespaceRules, ownNamespaceLabels } from '../customizeRules.ts';
import { readCopyInputs } from './copyReads.ts';
import { healthCheckRule, watchedChecks } from './healthReads.ts';
import { liveImagePolicy, lookUpMetadata } from './liveReads.ts';

/**
 * The rules for objects to relate. One without names would relate all objects of its namespace (docs/facts.md, M11),
 * and one for a kind that isn't served would fail each sync (M14): such rules are left out.
 */
export async function relatedRules(parent: Rollout, { cluster, settings }: HookCall): Promise<RelatedResourceRule[]> {
  const rollout = withAllowedRefs(parent, settings);
  const { namespace = '', name = '' } = rollout.metadata;
  return [
    ...(await policyRule(rollout, cluster)),
    {
      ...ROLLOUT_GATES,
      namespace,
      labelSelector: { matchLabels: { [ROLLOUT_NAME_LABEL]: labelValue(name) } },
    },
    {
      ...FLUX_BINDINGS,
      namespace,
      labelSelector: { matchExpressions: [{ key: boundLabel(name), operator: 'Exists' }] },
    },
    ...healthCheckRule(rollout),
    // These don't depend on the existing Gates, because the answer is cached by generation (docs/facts.md, M6).
    ...selectingGateRules(namespace, SELECTS_ROLLOUTS_LABEL),
    ...(await namespaceRules(namespace, cluster)),
    ...(await budgetRules({ namespace, name }, cluster)),
    ...namedRules(GATES, gatesNamedBy(rollout, settings)),
    ...namedRules(ROLLOUTS, upstreamRefs(rollout)),
  ];
}

async function policyRule(rollout: Rollout, cluster: ClusterReader): Promise<RelatedResourceRule[]> {
  const ref = policyRef(rollout);
  const apiVersion = ref && (await servedVersion('ImagePolicy', cluster));
  if (!apiVersion) return [];
  return [{ apiVersion, resource: KINDS.ImagePolicy.resource, namespace: ref.namespace, names: [ref.name] }];
}

/**
 * The rules for budgets that may select the Rollout. Without any budget in the cluster there are none, because each
 * event of a related kind is matched against every rule of every Rollout (ADR 2).
 */
async function budgetRules(rollout: NamespacedName, cluster: ClusterReader): Promise<RelatedResourceRule[]> {
  const rules = slotRules(rollout);
  const some = await Promise.all(
    rules.map(({ apiVersion, resource, namespace }) => cluster.hasAny({ apiVersion, resource, namespace })),
  );
  return rules.filter((_, index) => some[index]);
}

/**
 * Whether a grant triggers a sync of the Rollout: not if its rules are older than the first budget (docs/facts.md, M6).
 */
export function isTriggeredByGrant(related: ObjectMap): boolean {
  return sendsKind(related, KINDS.RolloutBudget) || sendsKind(related, KINDS.ClusterRolloutBudget);
}

/** The inputs of a plan: related objects, which may be stale; and live reads of consent, children and Jobs. */
export async function observe(request: CompositeRequest<Rollout>, call: HookCall): Promise<Observed> {
  const { parent, related } = request;
  const rollout = withAllowedRefs(parent, call.settings);
  const { namespace = '' } = rollout.metadata;
  const imagePolicy = await imagePolicyOf(rollout, related, call.cluster);
  const relatedGates = objectsOf<Gate>(related, KINDS.Gate);
  const gates = byRefKey(relatedGates);
  const rolloutGates = objectsOf<RolloutGate>(related, KINDS.RolloutGate);
  const namespaceLabels = await ownNamespaceLabels(namespace, related, relatedGates, call.cluster);
  const watched = await watchedChecks(rollout, objectsOf<HealthCheck>(related, KINDS.HealthCheck), call);
  const upstream = await readUpstream(rollout, call, objectsOf<Rollout>(related, KINDS.Rollout));
  const copyInputs = await readCopyInputs(request, imagePolicy, call);
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
    copyInputs,
    derivedPolicy,
    writeBackProblem,
    rolloutGates,
    bindings: objectsOf<FluxBinding>(related, KINDS.FluxBinding),
    ...watched,
    problems: [
      ...forbiddenProblems(parent, call.settings),
      ...watched.problems,
      ...(writeBackProblem ? [writeBackProblem] : []),
    ],
    // Gates of bound objects aren't related: readBlockers adds them.
    requiredGates: gatesOfRollouts([rollout], [], { gates: relatedGates, namespaceLabels }, call.settings),
    gates,
    upstream,
    carried: [],
    ...lookUpMetadata(rollout, imagePolicy, authorsWanted(rolloutGates, gates, rollout), call),
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
