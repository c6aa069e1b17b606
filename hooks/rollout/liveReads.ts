/** Live reads for a Rollout: caches of different kinds lag differently, and a deployment cannot be undone. */
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import { KINDS, KINDS_WITH_MANAGED_FIELDS, ROLLOUTS } from '../../api/kinds.ts';
import type { CompositeRequest } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { FluxBinding, HealthCheck, Rollout } from '../../api/types.ts';
import { provenVerdict, statusAfter, type Verdict } from '../../core/health/healthStatus.ts';
import { cutoffsOf } from '../../core/health/knownHealth.ts';
import { isAtRest, mayBeOutdated, requeueInterval } from '../../core/health/kustomizationCheck.ts';
import { metricCheckOf, statusWithoutAnswer } from '../../core/health/prometheus/measurement.ts';
import { byRefKey, refKey } from '../../core/kube/names.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { type CarriedDeployment, deploymentsCarriedBy } from '../../core/rollout/deployment/entry.ts';
import { bindingsOfObjects, boundObjects, namesOfBound } from '../../core/rollout/evaluation/requiredGates.ts';
import { type Child, foreignMessage, isForeign, notInstalledMessage } from '../../core/rollout/ownedObjects.ts';
import { upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import type { UpstreamRollouts } from '../../core/rollout/upstream/upstreamVerdict.ts';
import { evaluateKustomization } from '../../live/evaluateKustomization.ts';
import { listBindable, listBindings, readCurrentBindings } from '../../live/gateReads.ts';
import { inParallel } from '../../live/inParallel.ts';
import { objectsOfKinds, type Reads, readObjects, readUpstream } from '../../live/objectReads.ts';
import { servedVersion } from './relatedRules.ts';

/**
 * The Rollout's ImagePolicy, for a sync without it: a customize answer may be older than the ImagePolicy, or than its
 * CRD.
 */
export async function liveImagePolicy(rollout: Rollout, cluster: ClusterReader): Promise<ImagePolicy | undefined> {
  const ref = policyRef(rollout);
  const apiVersion = ref && (await servedVersion('ImagePolicy', cluster));
  if (!apiVersion) return undefined;
  return cluster.get<ImagePolicy>({ apiVersion, resource: KINDS.ImagePolicy.resource, ...ref });
}

/** The Rollout as it is stored; undefined if it is gone. */
export function liveRollout({ metadata }: Rollout, cluster: ClusterReader): Promise<Rollout | undefined> {
  const { namespace = '', name = '' } = metadata;
  return cluster.get<Rollout>({ ...ROLLOUTS, namespace, name });
}

/**
 * Why a child cannot be written: the installation lacks its kind, or another object has its name.
 * Metacontroller sends only our own children: a missing child has not been created yet, or another object has its name.
 */
export async function childProblem(
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
  return found && isForeign(found, rollout) ? foreignMessage(child) : undefined;
}

/** The deployments of the Rollout that the Flux objects of its namespace carry. */
export async function carriedDeployments({ metadata }: Rollout, cluster: ClusterReader): Promise<CarriedDeployment[]> {
  const { namespace = '', name = '' } = metadata;
  const objects = await objectsOfKinds(KINDS_WITH_MANAGED_FIELDS, namespace, cluster);
  return deploymentsCarriedBy(objects, name);
}

/** How old a list of a namespace's objects may be once the newest deployment is applied: see `appliedBindings`. */
const MAX_AGE_AFTER_APPLY_MS = 5000;
/** How old it may be before a deployment, which reads the bound objects of the list again: see `liveBindings`. */
const MAX_AGE_BEFORE_DEPLOYMENT_MS = 1000;
/** A Rollout with more bound objects lists the namespace's objects, in place of that many reads. */
const MAX_OBJECT_READS = 8;

/**
 * The bindings of the objects bound to the Rollout, for a deployment that seems to be applied everywhere: their Gates
 * don't matter. An object that was bound in the last seconds may be missing: it has the version from the webhook.
 */
export async function appliedBindings(rollout: Rollout, call: HookCall): Promise<FluxBinding[]> {
  const bindings = await listBindings([rollout], call.cluster);
  const objects = await bindable(rollout, MAX_AGE_AFTER_APPLY_MS, call);
  return bindingsOfObjects(bindings, boundObjects([rollout], objects, bindings));
}

/**
 * The bindings of the objects bound to the Rollout, with the Gates that these require now, before a deployment.
 * Only an object that was bound within the last second, and has no FluxBinding yet, may be missing: the webhook holds
 * it.
 */
export async function liveBindings(
  rollout: Rollout,
  bindings: readonly FluxBinding[],
  call: HookCall,
): Promise<FluxBinding[]> {
  return readCurrentBindings([rollout], bindings, await liveObjects(rollout, bindings, call), call);
}

/**
 * The objects bound to the Rollout, as they are now. In a burst each Rollout of the namespace needs a list, and one of
 * thousands takes a quarter of a second of the API server's time: they share it, and each reads its own objects again.
 */
async function liveObjects(
  rollout: Rollout,
  bindings: readonly FluxBinding[],
  call: HookCall,
): Promise<readonly FluxObject[]> {
  // The first deployment often follows the bindings of all objects by a moment.
  if (!rollout.status?.history?.length) return bindable(rollout, 0, call);
  const listed = await bindable(rollout, MAX_AGE_BEFORE_DEPLOYMENT_MS, call);
  const known = namesOfBound(rollout, bindings, listed);
  return known.length > MAX_OBJECT_READS ? bindable(rollout, 0, call) : readObjects(known, call.cluster);
}

/** The metadata of the objects that annotations may bind to a Rollout of the namespace, at most `maxAgeMs` old. */
function bindable({ metadata }: Rollout, maxAgeMs: number, { cluster, sharedReads }: HookCall): Promise<FluxObject[]> {
  const { namespace = '' } = metadata;
  return sharedReads.recent(maxAgeMs, `bound in ${namespace}`, () => listBindable(namespace, cluster));
}

/**
 * The upstream Rollouts of a Rollout, `spec.after`, read live before a deployment.
 * Their own upstream Rollouts are always read live: a change of them must trigger no sync.
 * @param cached the related Rollouts, instead of live reads
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

/** Whether the upstream Rollouts may change without a sync: a consenting Namespace, or a cycle's end, triggers none. */
export function mayChangeUnseen(rollout: Rollout, { found, problem }: UpstreamRollouts): boolean {
  return problem !== undefined || upstreamRefs(rollout).length > found.length;
}

/**
 * The HealthChecks; a check at rest that is Unhealthy now has that status. The hook of a check at rest evaluates it
 * every ten minutes only, but a failure since then must hold the next version. The Rollout's condition then triggers
 * that hook, which stores the failure.
 */
export function withRestingChecks(
  rollout: Rollout,
  healthChecks: readonly HealthCheck[],
  call: HookCall,
): Promise<HealthCheck[]> {
  return inParallel(healthChecks, async (healthCheck) => {
    if (!isOwn(healthCheck, rollout) || !isAtRest(healthCheck, false)) return healthCheck;
    const { namespace, name, uid, annotations } = healthCheck.metadata;
    // Many Rollouts may watch one HealthCheck. They share an evaluation for the interval of a check that isn't at rest.
    const read = () => evaluateNow(healthCheck, rollout, call);
    const key = JSON.stringify(['health', namespace, name, uid, annotations]);
    const verdict = await call.sharedReads.recent(requeueInterval(healthCheck), key, read);
    return verdict.health === 'Unhealthy' ? withVerdict(healthCheck, verdict, call) : healthCheck;
  });
}

/**
 * The checks with their present status, for a bake that begins or succeeds: their own hooks may not have run for a
 * while, because a check is at rest, or after an outage. A check of class kustomization is evaluated now, unless its
 * report is new; one of class prometheus doesn't count without a new measurement.
 */
export function withPresentHealth(
  rollout: Rollout,
  healthChecks: readonly HealthCheck[],
  call: HookCall,
): Promise<HealthCheck[]> {
  return inParallel(healthChecks, async (healthCheck) => {
    const metricCheck = metricCheckOf(healthCheck);
    if (metricCheck) {
      const present = statusWithoutAnswer(healthCheck.status, metricCheck, call.now);
      return present ? { ...healthCheck, status: present } : healthCheck;
    }
    if (!mayBeOutdated(healthCheck, call.now)) return healthCheck;
    const verdict = await evaluateNow(healthCheck, rollout, call);
    return withVerdict(healthCheck, provenVerdict(verdict, isOwn(healthCheck, rollout)), call);
  });
}

/** Whether the check is of the Rollout's namespace: the deployments that another one waits for are unknown here. */
function isOwn(healthCheck: HealthCheck, { metadata }: Rollout): boolean {
  return healthCheck.metadata.namespace === metadata.namespace;
}

function withVerdict(healthCheck: HealthCheck, verdict: Verdict, { now }: HookCall): HealthCheck {
  return { ...healthCheck, status: statusAfter(healthCheck.status, verdict, now) };
}

function evaluateNow(healthCheck: HealthCheck, rollout: Rollout, call: HookCall): Promise<Verdict> {
  const cutoff = isOwn(healthCheck, rollout) ? cutoffsOf([rollout], call.now).reached : undefined;
  return evaluateKustomization(
    healthCheck,
    { rollouts: [rollout], cutoff, rests: false },
    { ...call, cluster: call.healthCluster },
  );
}
