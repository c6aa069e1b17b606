/** Live reads for a Rollout: caches of different kinds lag differently, and a deployment cannot be undone. */
import { SELECTS_LABEL, SELECTS_ROLLOUTS_LABEL } from '../../api/annotations.ts';
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import {
  apiVersionOf,
  BOUND_KINDS,
  FLUX_BINDINGS,
  GATES,
  KINDS,
  KINDS_WITH_MANAGED_FIELDS,
  NAMESPACES,
  ROLLOUT_GATES,
  ROLLOUTS,
  resourceOf,
} from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { CompositeRequest } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, Rollout, RolloutGate } from '../../api/types.ts';
import { isTooMany } from '../../core/gate/gateRefs.ts';
import { isTruncated, reachesBeyond, selectingGateLists } from '../../core/gate/gateSelection.ts';
import { boundLabel, identityOf, refKey } from '../../core/kube/names.ts';
import { objectAt } from '../../core/kube/objectMap.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { isForeign, releaseConfigMap } from '../../core/rollout/child.ts';
import { type CarriedDeployment, carriedDeployment } from '../../core/rollout/deployment/adoptDeployment.ts';
import { boundObjects, currentBindings } from '../../core/rollout/evaluation/currentBindings.ts';
import type { GateSelectors } from '../../core/rollout/evaluation/requiredGates.ts';
import {
  consenting,
  namespacesToAsk,
  orderProblem,
  unreadUpstream,
  upstreamRefs,
} from '../../core/rollout/upstream/dependencies.ts';
import type { UpstreamRollouts } from '../../core/rollout/upstream/upstreamVerdict.ts';
import { imagePolicyVersion } from './relatedRules.ts';

/** For a policy that the related objects lack: a customize answer may be older than the ImagePolicy, or than its CRD. */
export async function liveImagePolicy(rollout: Rollout, cluster: ClusterReader): Promise<ImagePolicy | undefined> {
  const ref = policyRef(rollout);
  const apiVersion = ref && (await imagePolicyVersion(cluster));
  if (!apiVersion) return undefined;
  return cluster.get<ImagePolicy>({ apiVersion, resource: KINDS.ImagePolicy.resource, ...ref });
}

/** Undefined where it is gone. */
export function liveRollout({ metadata }: Rollout, cluster: ClusterReader): Promise<Rollout | undefined> {
  const { namespace = '', name = '' } = metadata;
  return cluster.get<Rollout>({ ...ROLLOUTS, namespace, name });
}

export function liveRolloutGates({ metadata }: Rollout, cluster: ClusterReader): Promise<RolloutGate[]> {
  return cluster.list<RolloutGate>({
    ...ROLLOUT_GATES,
    ...(metadata.namespace && { namespace: metadata.namespace }),
    fieldSelector: `spec.rolloutRef.name=${metadata.name}`,
  });
}

/** The Gates that exist. */
export async function liveGates(refs: readonly NamespacedName[], cluster: ClusterReader): Promise<Gate[]> {
  const requested = refs.filter((ref) => !isTooMany(ref));
  const found = await Promise.all(
    requested.map(({ namespace, name }) => cluster.get<Gate>({ ...GATES, namespace, name })),
  );
  return found.filter((gate) => gate !== undefined);
}

/** The Gates that may select the Rollout, or Flux objects of its namespace; its Namespace is read where that matters. */
export async function liveSelectors(
  { metadata }: Rollout,
  cluster: ClusterReader,
  label: Parameters<typeof selectingGateLists>[1] = SELECTS_ROLLOUTS_LABEL,
): Promise<GateSelectors> {
  const { namespace = '' } = metadata;
  const lists = await Promise.all(selectingGateLists(namespace, label).map((list) => cluster.list<Gate>(list)));
  const gates = lists.flat();
  const home = gates.some(({ spec }) => reachesBeyond(spec?.selects))
    ? await cluster.get({ ...NAMESPACES, name: namespace })
    : undefined;
  return { gates, namespaceLabels: home?.metadata.labels ?? {}, truncated: isTruncated(lists) };
}

/** Children are only our own: a wanted child that is missing has not been created yet, or another object has its name. */
export async function configMapIsForeign(request: CompositeRequest, cluster: ClusterReader): Promise<boolean> {
  const rollout = request.parent as unknown as Rollout;
  const wanted = rollout.metadata.deletionTimestamp ? undefined : releaseConfigMap(rollout)?.metadata;
  if (!wanted?.name || objectAt(request.children, { group: '', kind: 'ConfigMap' }, wanted.namespace, wanted.name))
    return false;
  const { namespace = '', name } = wanted;
  const found = await cluster.get({ apiVersion: 'v1', resource: 'configmaps', namespace, name });
  return found !== undefined && isForeign(found, rollout);
}

/** Which deployments of the Rollout the Flux objects of its namespace carry. */
export async function carriedDeployments({ metadata }: Rollout, cluster: ClusterReader): Promise<CarriedDeployment[]> {
  const objects = await objectsOfKinds(KINDS_WITH_MANAGED_FIELDS, metadata.namespace ?? '', cluster);
  return objects.flatMap((object) => carriedDeployment(object, object.kind, metadata.name ?? '') ?? []);
}

/**
 * How long the objects of a namespace are not listed again: in a burst every Rollout of it asks. What is written on one meanwhile meets the
 * webhook, which holds the object itself.
 */
const SHARED_MS = 1000;

export async function liveBindings({ metadata }: Rollout, { cluster }: HookCall): Promise<FluxBinding[]> {
  const { namespace = '', name = '' } = metadata;
  return cluster.list<FluxBinding>({ ...FLUX_BINDINGS, namespace, labelSelector: boundLabel(name) });
}

/**
 * One for each object bound to the Rollout, also where it has none or an old one, with the Gates that the object requires now.
 * Gates are listed only where a binding does not vouch for its object's.
 */
export async function withLiveGates(
  rollout: Rollout,
  bindings: readonly FluxBinding[],
  { cluster, settings, recent }: HookCall,
): Promise<FluxBinding[]> {
  const { namespace = '' } = rollout.metadata;
  const rules = { ownNamespaceOnly: settings.noCrossNamespaceRefs };
  const objects = await recent.within(SHARED_MS, `bound in ${namespace}`, () =>
    objectsOfKinds(BOUND_KINDS, namespace, cluster),
  );
  const bound = boundObjects(rollout, objects, bindings, rules);
  const selecting = bound.every(({ isVouched }) => isVouched)
    ? { gates: [], namespaceLabels: {} }
    : await liveSelectors(rollout, cluster, SELECTS_LABEL);
  return currentBindings(rollout, bindings, bound, selecting, rules);
}

/** Their metadata. */
async function objectsOfKinds(
  kinds: typeof BOUND_KINDS,
  namespace: string,
  cluster: ClusterReader,
): Promise<FluxObject[]> {
  const lists = await Promise.all(
    kinds.map(async (row) => {
      if (!(await cluster.serves(resourceOf(row)))) return [];
      const objects = await cluster.listMetadata({ ...resourceOf(row), namespace });
      return objects.map(({ metadata }) => ({ apiVersion: apiVersionOf(row), kind: row.kind, metadata }));
    }),
  );
  return lists.flat();
}

// What there is of the upstream Rollouts of a Rollout, `spec.after`: as the cache has them, or live before a deployment.

type Reads = Pick<HookCall, 'cluster' | 'settings'>;

/** `cached`: related Rollouts. Their own upstream Rollouts are not related, and are read live: a change of them must trigger no sync. */
export async function upstreamOf(
  rollout: Rollout,
  cached: readonly Rollout[],
  call: Reads,
): Promise<UpstreamRollouts | undefined> {
  const refs = upstreamRefs(rollout);
  if (refs.length === 0) return undefined;
  const byKey = new Map(cached.map((each) => [refKey(identityOf(each)), each]));
  return readUpstream(rollout, new Map(refs.map((ref) => [refKey(ref), byKey.get(refKey(ref))])), call);
}

export function liveUpstream(rollout: Rollout, call: Reads): Promise<UpstreamRollouts | undefined> {
  return upstreamRefs(rollout).length === 0 ? Promise.resolve(undefined) : readUpstream(rollout, new Map(), call);
}

/** Whether what was found may change without a sync: a Namespace that consents, or the other end of a cycle, triggers none. */
export function mayChangeUnseen(rollout: Rollout, { found, problem }: UpstreamRollouts): boolean {
  return problem !== undefined || upstreamRefs(rollout).length > found.length;
}

async function readUpstream(
  rollout: Rollout,
  read: Map<string, Rollout | undefined>,
  { cluster, settings }: Reads,
): Promise<UpstreamRollouts> {
  for (let next = unreadUpstream(rollout, read); next.length > 0; next = unreadUpstream(rollout, read)) {
    const found = await Promise.all(next.map((ref) => cluster.get<Rollout>({ ...ROLLOUTS, ...ref })));
    next.forEach((ref, index) => void read.set(refKey(ref), found[index]));
  }
  const problem = orderProblem(rollout, read);
  const found = upstreamRefs(rollout).flatMap((ref) => read.get(refKey(ref)) ?? []);
  const requested = settings.watchWithoutConsent ? [] : namespacesToAsk(rollout, found);
  const namespaces = await Promise.all(requested.map((name) => cluster.get({ ...NAMESPACES, name })));
  const seen = settings.watchWithoutConsent ? found : consenting(rollout, found, namespaces);
  return { found: seen, ...(problem && { problem }) };
}
