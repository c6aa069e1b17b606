/**
 * Checks for HealthChecks of class prometheus that aren't allowed to query their MetricProvider, so are never Healthy.
 */
import { METRIC_PROVIDERS, NAMESPACES } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { HealthCheck, MetricProvider } from '../../api/types.ts';
import { metricCheckOf } from '../../core/health/prometheus/measurement.ts';
import { matchesSelector, SelectorError } from '../../core/kube/selector.ts';
import { nameWord, shell } from '../../core/text/shell.ts';
import { type Check, type Finding, problem, reader } from './finding.ts';

const ABOUT = 'HealthChecks';

export const checkMetrics: Check = async (inputs) => {
  const { list, kind, notes } = reader(inputs, ABOUT);
  // Few users may read the other kinds, which matters only if there is such a check.
  const measured = (await kind<HealthCheck>('HealthCheck'))?.filter(metricCheckOf) ?? [];
  if (measured.length === 0) return notes();
  const [providers, namespaces] = await Promise.all([
    list<MetricProvider>(METRIC_PROVIDERS),
    list<KubeObject>(NAMESPACES),
  ]);
  return [...(providers ? metricFindings(measured, providers, namespaces) : []), ...notes()];
};

/** Findings about providers that do not exist or do not select the namespace. `namespaces`: undefined if unknown. */
export function metricFindings(
  checks: readonly HealthCheck[],
  providers: readonly MetricProvider[],
  namespaces: readonly Pick<KubeObject, 'metadata'>[] | undefined,
): Finding[] {
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
      return problem(ABOUT, text, fix, shell`kubectl get metricproviders`);
    }
    const own = labels.get(namespace);
    if (!own || selects(provider, own)) return [];
    const text = `${what}, whose spec.namespaceSelector does not select namespace ${namespace}: the HealthCheck is never Healthy`;
    const show = shell`kubectl get metricprovider ${nameWord(requested)} -o yaml`;
    return problem(ABOUT, text, 'label the Namespace, or widen the selector', show);
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
