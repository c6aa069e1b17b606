/** HealthChecks of class prometheus that can never be Healthy, for they may not query anything. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck, MetricProvider } from '../../../api/types.ts';
import { metricCheckOf } from '../../../core/health/prometheus/measurement.ts';
import { matchesSelector, SelectorError } from '../../../core/kube/selector.ts';
import { nameWord, shell } from '../../../core/text/shell.ts';
import { type Finding, problem } from './finding.ts';

const ABOUT = 'HealthChecks';

/** @param namespaces undefined: not known, and neither is who may use a provider */
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
      const todo = 'create it, or correct spec.prometheus.provider';
      const list = shell`kubectl get metricproviders`;
      return [problem(ABOUT, `${what}, which does not exist: it is never Healthy`, todo, list)];
    }
    const own = labels.get(namespace);
    if (!own || selects(provider, own)) return [];
    const which = 'whose spec.namespaceSelector does not select its namespace: it is never Healthy';
    const show = shell`kubectl get metricprovider ${nameWord(requested)} -o yaml`;
    return [problem(ABOUT, `${what}, ${which}`, 'label the Namespace, or widen the selector', show)];
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
