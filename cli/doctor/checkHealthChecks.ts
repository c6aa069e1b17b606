/**
 * Checks for HealthChecks that are never Healthy: those of class prometheus that aren't allowed to query their
 * MetricProvider, and those of class kustomization with objects that the hook server isn't allowed to read.
 */
import type { FluxObject } from '../../api/flux.ts';
import { METRIC_PROVIDERS, NAMESPACES } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { HealthCheck, MetricProvider } from '../../api/types.ts';
import { UNREADABLE_FIX } from '../../client/actions/writes/adoptedBake.ts';
import { unreadableReviewer } from '../../connection/read/accessReviews.ts';
import { KUSTOMIZATION_CLASS, kustomizationRef } from '../../core/health/kustomizationCheck.ts';
import { metricCheckOf } from '../../core/health/prometheus/measurement.ts';
import { byRefKey, identityOf, refKey } from '../../core/kube/names.ts';
import { matchesSelector, SelectorError } from '../../core/kube/selector.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import { nameWord, shell } from '../../core/text/shell.ts';
import { type CheckInputs, checkOf, type Found, notChecked, problem, type Reads } from './finding.ts';

export const checkHealthChecks = checkOf('HealthChecks', async (inputs) => {
  const checks = (await inputs.kind<HealthCheck>('HealthCheck')) ?? [];
  return [...(await metricChecks(checks, inputs)), ...(await inventoryChecks(checks, inputs))];
});

// Few users may read what the following checks need, which matters only if there are HealthChecks of that class.

async function inventoryChecks(
  checks: readonly HealthCheck[],
  { client, namespace, kind }: CheckInputs & Reads,
): Promise<Found[]> {
  const refs = checks.flatMap((check) => {
    const ref = check.spec?.class === KUSTOMIZATION_CLASS ? kustomizationRef(check) : undefined;
    return ref && !('problem' in ref) ? [{ check, ref }] : [];
  });
  if (refs.length === 0) return [];
  // A HealthCheck may name a Kustomization of another namespace.
  const isElsewhere = refs.some(({ ref }) => ref.namespace !== namespace);
  const kustomizations = await kind<FluxObject>('Kustomization', isElsewhere ? { namespace: undefined } : undefined);
  const byKey = byRefKey(kustomizations ?? []);
  const unreadableOf = unreadableReviewer(client);
  const names = new Map<string, string[]>();
  for (const { check, ref } of refs) {
    const kustomization = byKey.get(refKey(ref));
    const unreadable = kustomization ? await unreadableOf(kustomization) : [];
    if (!unreadable) return [notChecked("you aren't allowed to review what the hook server may read")];
    for (const resource of unreadable) names.set(resource, [...(names.get(resource) ?? []), refKey(identityOf(check))]);
  }
  return [...names].map(([resource, affected]) => {
    const what = `The hook server isn't allowed to read ${resource}, so these HealthChecks are never Healthy`;
    return problem(`${what}: ${firstFew(affected)}`, UNREADABLE_FIX);
  });
}

async function metricChecks(checks: readonly HealthCheck[], { list }: Reads): Promise<Found[]> {
  const measured = checks.filter(metricCheckOf);
  if (measured.length === 0) return [];
  const [providers, namespaces] = await Promise.all([
    list<MetricProvider>(METRIC_PROVIDERS),
    list<KubeObject>(NAMESPACES),
  ]);
  return providers ? metricFindings(measured, providers, namespaces) : [];
}

/** Findings about providers that do not exist or do not select the namespace. `namespaces`: undefined if unknown. */
export function metricFindings(
  checks: readonly HealthCheck[],
  providers: readonly MetricProvider[],
  namespaces: readonly Pick<KubeObject, 'metadata'>[] | undefined,
): Found[] {
  const byName = new Map(providers.map((provider) => [provider.metadata.name, provider]));
  const labels = new Map(namespaces?.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
  return checks.flatMap((check) => {
    const { namespace = '', name } = check.metadata;
    const requested = metricCheckOf(check)?.provider;
    if (requested === undefined) return [];
    const provider = byName.get(requested);
    const what = `HealthCheck ${namespace}/${name} queries MetricProvider ${requested}`;
    if (!provider) {
      const text = `${what}, which does not exist: the HealthCheck is never Healthy`;
      const fix = 'create it, or correct spec.prometheus.provider';
      return problem(text, fix, shell`kubectl get metricproviders`);
    }
    const own = labels.get(namespace);
    if (!own || selects(provider, own)) return [];
    const text = `${what}, whose spec.namespaceSelector does not select namespace ${namespace}: the HealthCheck is never Healthy`;
    const show = shell`kubectl get metricprovider ${nameWord(requested)} -o yaml`;
    return problem(text, 'label the Namespace, or widen the selector', show);
  });
}

function selects({ spec }: MetricProvider, labels: Record<string, string>): boolean {
  try {
    return spec.namespaceSelector !== undefined && matchesSelector(spec.namespaceSelector, labels);
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}
