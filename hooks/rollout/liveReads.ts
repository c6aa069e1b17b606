/** Live reads for a Rollout: caches of different kinds lag differently, and a deployment cannot be undone. */
import type { ImagePolicy } from '../../api/flux.ts';
import { GATES, KINDS, KINDS_WITH_MANAGED_FIELDS, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { CompositeRequest } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout } from '../../api/types.ts';
import { isTooMany } from '../../core/gate/gateRefs.ts';
import { statusAfter } from '../../core/health/healthStatus.ts';
import { isAtRest, requeueInterval } from '../../core/health/kustomizationCheck.ts';
import { cutoffsOf } from '../../core/health/reset.ts';
import { byRefKey, refKey } from '../../core/kube/names.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { type Child, foreignMessage, isForeign, notInstalledMessage } from '../../core/rollout/child.ts';
import { type CarriedDeployment, carriedDeployment } from '../../core/rollout/deployment/adoptDeployment.ts';
import { upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import type { UpstreamRollouts } from '../../core/rollout/upstream/upstreamVerdict.ts';
import { listBindable, withCurrentGates } from '../../live/gateReads.ts';
import { objectsOfKinds, type Reads, readUpstream } from '../../live/objectReads.ts';
import { evaluateKustomization } from '../healthCheck/evaluateKustomization.ts';
import { inParallel } from '../inParallel.ts';
import { servedVersion } from './relatedRules.ts';

/**
 * For a policy that the related objects lack: a customize answer may be older than the ImagePolicy, or than its CRD.
 */
export async function liveImagePolicy(rollout: Rollout, cluster: ClusterReader): Promise<ImagePolicy | undefined> {
  const ref = policyRef(rollout);
  const apiVersion = ref && (await servedVersion('ImagePolicy', cluster));
  if (!apiVersion) return undefined;
  return cluster.get<ImagePolicy>({ apiVersion, resource: KINDS.ImagePolicy.resource, ...ref });
}

/** Undefined if it is gone. */
export function liveRollout({ metadata }: Rollout, cluster: ClusterReader): Promise<Rollout | undefined> {
  const { namespace = '', name = '' } = metadata;
  return cluster.get<Rollout>({ ...ROLLOUTS, namespace, name });
}

/** The Gates that exist, by `refKey`. */
export async function liveGates(refs: readonly NamespacedName[], cluster: ClusterReader): Promise<Map<string, Gate>> {
  const requested = refs.filter((ref) => !isTooMany(ref));
  const found = await Promise.all(
    requested.map(({ namespace, name }) => cluster.get<Gate>({ ...GATES, namespace, name })),
  );
  return byRefKey(found.filter((gate) => gate !== undefined));
}

/**
 * Why a child cannot be written: the installation lacks its kind, or another object has its name.
 * Children are only our own: a wanted child that is missing has not been created yet, or another object has its name.
 */
export async function childProblem(
  child: Child | undefined,
  { parent, children }: CompositeRequest,
  cluster: ClusterReader,
): Promise<string | undefined> {
  const rollout = parent as unknown as Rollout;
  if (!child || rollout.metadata.deletionTimestamp) return undefined;
  const { kind, apiVersion, resource, name } = child;
  const { namespace = '' } = rollout.metadata;
  // Metacontroller sends a map, even if empty, for each kind of child that the controller has.
  const ours = children?.[`${kind}.${apiVersion}`];
  if (!ours) return notInstalledMessage(child);
  if (ours[`${namespace}/${name}`]) return undefined;
  const found = await cluster.get({ apiVersion, resource, namespace, name });
  return found && isForeign(found, rollout) ? foreignMessage(child) : undefined;
}

/** Which deployments of the Rollout the Flux objects of its namespace carry. */
export async function carriedDeployments({ metadata }: Rollout, cluster: ClusterReader): Promise<CarriedDeployment[]> {
  const objects = await objectsOfKinds(KINDS_WITH_MANAGED_FIELDS, metadata.namespace ?? '', cluster);
  return objects.flatMap((object) => carriedDeployment(object, object.kind, metadata.name ?? '') ?? []);
}

/**
 * How long a list of a namespace's objects is reused: in a burst each Rollout of the namespace asks for it.
 * A write in the meantime is decided by the webhook, from the Gates as they are then.
 */
const SHARED_MS = 1000;

/** One binding for each object bound to the Rollout, with the Gates that the object requires now. */
export async function withLiveGates(
  rollout: Rollout,
  bindings: readonly FluxBinding[],
  call: HookCall,
): Promise<FluxBinding[]> {
  const { namespace = '' } = rollout.metadata;
  const list = () => listBindable(namespace, call.cluster);
  const objects = await call.recent.within(SHARED_MS, `bound in ${namespace}`, list);
  const [current = []] = await withCurrentGates([rollout], [bindings], objects, call);
  return current;
}

/**
 * The upstream Rollouts of a Rollout, `spec.after`: as the cache has them (`cached`: related Rollouts), or live before
 * a deployment. Their own upstream Rollouts are not related, and are read live: a change of them must trigger no sync.
 */
export async function upstreamOf(
  rollout: Rollout,
  call: Reads,
  cached?: readonly Rollout[],
): Promise<UpstreamRollouts | undefined> {
  const refs = upstreamRefs(rollout);
  if (refs.length === 0) return undefined;
  if (!cached) return readUpstream(rollout, call);
  const byKey = byRefKey(cached);
  return readUpstream(
    rollout,
    call,
    refs.map((ref) => [refKey(ref), byKey.get(refKey(ref))] as const),
  );
}

/**
 * Whether what was found may change without a sync: a Namespace that consents, or the other end of a cycle, triggers
 * none.
 */
export function mayChangeUnseen(rollout: Rollout, { found, problem }: UpstreamRollouts): boolean {
  return problem !== undefined || upstreamRefs(rollout).length > found.length;
}

/** HealthChecks that are evaluated at once. */
const AT_ONCE = 8;

/**
 * The checks, with the present status of those at rest that are Unhealthy now.
 * Their hook evaluates them every ten minutes only; what has failed since must hold the next version.
 * The hook finds it too: the Rollout's condition wakes it.
 */
export function withRestingChecks(
  rollout: Rollout,
  healthChecks: readonly HealthCheck[],
  call: HookCall,
): Promise<HealthCheck[]> {
  const cutoff = cutoffsOf([rollout], call.now).reached;
  return inParallel(healthChecks, AT_ONCE, async (healthCheck) => {
    const { uid, namespace, name } = healthCheck.metadata;
    // A HealthCheck of another namespace is evaluated all the time: its hook does not see which Rollouts bake on it.
    if (namespace !== rollout.metadata.namespace || !isAtRest(healthCheck, false)) return healthCheck;
    // Many Rollouts may watch one HealthCheck: one evaluation serves all of them, as long as one of a check that isn't
    // at rest.
    const evaluateNow = () =>
      evaluateKustomization(healthCheck, { rollouts: [rollout], cutoff }, { ...call, cluster: call.healthCluster });
    const verdict = await call.recent.within(
      requeueInterval(healthCheck),
      `health ${uid} ${namespace}/${name}`,
      evaluateNow,
    );
    if (verdict.health !== 'Unhealthy') return healthCheck;
    return { ...healthCheck, status: statusAfter(healthCheck.status, verdict, call.now) };
  });
}
