/**
 * DecoratorController `healthchecks`: resets the health of every class at a new deployment or retry, and computes the
 * health of class kustomization.
 */
import type { FluxObject, Kustomization } from '../../api/flux.ts';
import { KINDS, KUSTOMIZATIONS, NAMESPACES, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { DecoratorResponse, RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import { associatedRollouts, needsNamespaceLabels } from '../../core/health/association.ts';
import { howToAllow, mayBeWatched } from '../../core/health/consent.ts';
import { judgeWithResources, ownHealth } from '../../core/health/kustomization.ts';
import { applyingAccount } from '../../core/health/reads.ts';
import { type Cutoffs, cutoffsOf, needsReset } from '../../core/health/reset.ts';
import { KUSTOMIZATION_CLASS, kustomizationRef, requeueInterval } from '../../core/health/spec.ts';
import { type HealthStatus, resetStatus, sameStatus, statusAfter, type Verdict } from '../../core/health/status.ts';
import { objectsOf } from '../../core/kube/objectMap.ts';
import type { DecoratorHook } from '../hook.ts';
import { readKustomization, readResources } from './reads.ts';

/** A seeded time may lie years ahead. */
const LONGEST_WAIT_SECONDS = 3600;

export const healthCheckHook: DecoratorHook = {
  async customize({ parent }, call) {
    const healthCheck = parent as HealthCheck;
    const { namespace = '' } = healthCheck.metadata;
    const rules: RelatedResourceRule[] = [{ ...ROLLOUTS, namespace }];
    // Only to trigger a sync: the annotation may change without a new customize call, so sync reads what it names now.
    // A rule for a kind that is not installed would stop the sync of this HealthCheck.
    const ref =
      healthCheck.spec?.class === KUSTOMIZATION_CLASS
        ? kustomizationRef(healthCheck, call.settings.noCrossNamespaceRefs)
        : undefined;
    if (ref && 'name' in ref && (await call.cluster.serves(KUSTOMIZATIONS))) {
      rules.push({ ...KUSTOMIZATIONS, namespace: ref.namespace, names: [ref.name] });
      if (ref.namespace !== namespace) rules.push({ ...ROLLOUTS, namespace: ref.namespace });
    }
    return { relatedResources: rules };
  },

  async sync(request, call) {
    if (request.finalizing || request.object.metadata.deletionTimestamp) return { attachments: [] };
    const healthCheck = request.object as HealthCheck;
    const rollouts = objectsOf<Rollout>(request.related, KINDS.Rollout);
    const cutoffs = cutoffsOf(await rolloutsOf(healthCheck, rollouts, call), call.now);
    const before = healthCheck.status;

    // The reset is stored before anything is judged: health of the same instant could still be the old version's.
    if (needsReset(before, cutoffs.reached)) return answer(healthCheck, resetStatus(call.now), cutoffs, call);
    if (healthCheck.spec?.class !== KUSTOMIZATION_CLASS) return answer(healthCheck, before, cutoffs, call);

    const verdict = await judge(healthCheck, rollouts, cutoffs, call);
    return answer(healthCheck, statusAfter(before, verdict, call.now), cutoffs, call);
  },
};

async function rolloutsOf(healthCheck: HealthCheck, rollouts: Rollout[], call: HookCall): Promise<Rollout[]> {
  const name = healthCheck.metadata.namespace ?? '';
  const beside = rollouts.filter(({ metadata }) => metadata.namespace === name);
  const namespace = needsNamespaceLabels(beside) ? await call.cluster.get({ ...NAMESPACES, name }) : undefined;
  return associatedRollouts(beside, healthCheck, namespace?.metadata.labels);
}

async function judge(
  healthCheck: HealthCheck,
  rollouts: readonly Rollout[],
  cutoffs: Cutoffs,
  { cluster, access, now, settings }: HookCall,
): Promise<Verdict> {
  const ref = kustomizationRef(healthCheck, settings.noCrossNamespaceRefs);
  if ('problem' in ref) return { health: 'Unhealthy', message: ref.problem };
  const { namespace: home = '' } = healthCheck.metadata;
  const read = await readKustomization(cluster, ref);
  if ('error' in read) return { health: 'Unknown', message: `Kustomization could not be read: ${read.error}` };
  const { kustomization, source } = read;
  if (ref.namespace !== home && !settings.watchWithoutConsent && !(await consents(ref, kustomization, home, cluster))) {
    const message = `Kustomization '${ref.namespace}/${ref.name}' does not exist or may not be watched: ${howToAllow(home)}`;
    return { health: 'Unhealthy', message, absent: true };
  }
  if (!kustomization) {
    const what = `kustomizations.kustomize.toolkit.fluxcd.io "${ref.name}" not found`;
    return { health: 'Unhealthy', message: `Kustomization not found: ${what}`, absent: true };
  }
  const own = ownHealth(kustomization, { source, rollouts }, now);
  const account = applyingAccount(kustomization, settings.defaultServiceAccount);
  // Read after the Kustomization: what it says was applied is what these show.
  const observed = own.settled ? [] : await readResources(own.inventory.resources, { cluster, access, account });
  return judgeWithResources(own, observed, cutoffs.reached, now);
}

async function consents(
  { namespace: name }: NamespacedName,
  kustomization: Kustomization | undefined,
  from: string,
  cluster: ClusterReader,
): Promise<boolean> {
  if (mayBeWatched(kustomization as FluxObject | undefined, from)) return true;
  return mayBeWatched(await cluster.get({ ...NAMESPACES, name }), from);
}

function answer(
  healthCheck: HealthCheck,
  after: HealthStatus | undefined,
  cutoffs: Cutoffs,
  { now }: HookCall,
): DecoratorResponse<HealthStatus> {
  const changed = after !== undefined && !sameStatus(healthCheck.status, after);
  const waits: number[] = [];
  // Metacontroller swallows a conflict of this write: check soon that it arrived.
  if (changed) waits.push(1);
  if (healthCheck.spec?.class === KUSTOMIZATION_CLASS) waits.push(requeueInterval(healthCheck) / 1000);
  if (cutoffs.ahead !== undefined)
    waits.push(Math.min(Math.max((cutoffs.ahead - now) / 1000, 1), LONGEST_WAIT_SECONDS));
  return {
    attachments: [],
    ...(changed && { status: after }),
    ...(waits.length > 0 && { resyncAfterSeconds: Math.min(...waits) }),
  };
}
