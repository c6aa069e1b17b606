/** One look at what a HealthCheck of class kustomization is about, by live reads. */
import type { FluxObject, Kustomization } from '../../api/flux.ts';
import { NAMESPACES } from '../../api/kinds.ts';
import type { EpochMs, KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { HookCall } from '../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import { howToAllow, mayBeWatched, mayBeWatchedBySomebody } from '../../core/health/consent.ts';
import { judgeWithResources, ownHealth } from '../../core/health/kustomization.ts';
import { appliedSelector, applyingAccount } from '../../core/health/reads.ts';
import { gracePeriod, kustomizationRef } from '../../core/health/spec.ts';
import { healthyUntil, type Verdict } from '../../core/health/status.ts';
import { withCauses } from './pods.ts';
import { readDeployers, readKustomization, readResources } from './reads.ts';

/** A label or annotation that changes on a Namespace wakes nobody. */
const NAMESPACE_MS = 60_000;

export interface DeploymentsAround {
  /** Known already, of those that may have deployed into the Kustomization or its source; the others are read. */
  rollouts: readonly Rollout[];
  /** When the deployment began that the health is for; undefined when there is none. */
  cutoff: EpochMs | undefined;
}

export async function judge(
  healthCheck: HealthCheck,
  { rollouts, cutoff }: DeploymentsAround,
  call: HookCall,
): Promise<Verdict> {
  const { cluster, access, now, settings } = call;
  const ref = kustomizationRef(healthCheck, settings.noCrossNamespaceRefs);
  if ('problem' in ref) return { health: 'Unhealthy', message: ref.problem };
  const { namespace: home = '' } = healthCheck.metadata;
  const read = await readKustomization(cluster, ref);
  if ('error' in read) return { health: 'Unknown', message: `Kustomization could not be read: ${read.error}` };
  const { kustomization, source } = read;
  if (ref.namespace !== home && !settings.watchWithoutConsent && !(await consents(ref, kustomization, home, call))) {
    const message = `Kustomization '${ref.namespace}/${ref.name}' does not exist or may not be watched: ${howToAllow(home)}`;
    return { health: 'Unhealthy', message, absent: true };
  }
  if (!kustomization) {
    const what = `kustomizations.kustomize.toolkit.fluxcd.io "${ref.name}" not found`;
    return { health: 'Unhealthy', message: `Kustomization not found: ${what}`, absent: true };
  }
  const deployers = await readDeployers(cluster, [kustomization as FluxObject, ...(source ? [source] : [])], rollouts);
  if ('error' in deployers) return { health: 'Unknown', message: `Rollouts could not be read: ${deployers.error}` };
  const own = ownHealth(kustomization, { source, rollouts: [...rollouts, ...deployers.rollouts] }, now);
  const account = applyingAccount(kustomization, settings.defaultServiceAccount);
  const labelSelector = appliedSelector(kustomization);
  const { resources } = own.inventory;
  const since = {
    deployed: cutoff,
    healthyUntil: healthyUntil(healthCheck.status, now),
    gracePeriod: gracePeriod(healthCheck),
  };
  // Read after the Kustomization: what it says was applied is what these show.
  const observed = own.settled ? [] : await readResources(resources, { cluster, access, account, labelSelector });
  const explained = await withCauses(observed, { cluster, access, account }, since, now);
  return judgeWithResources(own, explained, since, now, settings.likeKuberik);
}

async function consents(
  { namespace: name }: NamespacedName,
  kustomization: Kustomization | undefined,
  from: string,
  { cluster }: HookCall,
): Promise<boolean> {
  if (mayBeWatched(kustomization as FluxObject | undefined, from)) return true;
  return mayBeWatched(await cluster.get({ ...NAMESPACES, name }), from);
}

/** Whether a Rollout of another namespace may bake on it, which we would not see. In doubt it may. */
export async function isWatchedElsewhere(
  healthCheck: HealthCheck,
  { cluster, recent, settings }: Pick<HookCall, 'cluster' | 'recent' | 'settings'>,
): Promise<boolean> {
  if (settings.noCrossNamespaceRefs) return false;
  if (settings.watchWithoutConsent || mayBeWatchedBySomebody(healthCheck)) return true;
  const { namespace: name = '' } = healthCheck.metadata;
  const read = (): Promise<KubeObject | undefined> => cluster.get({ ...NAMESPACES, name });
  const namespace = recent.within(NAMESPACE_MS, `namespace ${name}`, read);
  return namespace.then(mayBeWatchedBySomebody, () => true);
}
