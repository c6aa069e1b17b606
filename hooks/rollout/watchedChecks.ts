/** Which HealthChecks a Rollout watches: those of its namespace, and of other namespaces those that consent. */
import { NAMESPACES } from '../../api/kinds.ts';
import type { HookCall } from '../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import { mayBeWatched } from '../../core/health/consent.ts';
import { LIMITS } from '../../core/limits.ts';

export interface WatchedChecks {
  healthChecks: HealthCheck[];
  /** How many more the selector matches. */
  healthLeftOut: number;
  problems: string[];
}

export async function watchedChecks(
  { metadata }: Rollout,
  found: readonly HealthCheck[],
  { cluster, settings }: Pick<HookCall, 'cluster' | 'settings'>,
): Promise<WatchedChecks> {
  const { namespace: home = '' } = metadata;
  const isOwn = (check: HealthCheck) => check.metadata.namespace === home;
  if (settings.noCrossNamespaceRefs) return { healthChecks: found.filter(isOwn), healthLeftOut: 0, problems: [] };
  const mayWatch = (check: HealthCheck) => isOwn(check) || mayBeWatched(check, home);
  const asked = settings.watchWithoutConsent ? [] : found.filter((check) => !mayWatch(check));
  const namespaces = [...new Set(asked.map((check) => check.metadata.namespace ?? ''))];
  if (namespaces.length > LIMITS.watchedNamespaces) {
    const problem = `spec.healthCheckSelector matches HealthChecks in ${namespaces.length} other namespaces, more than ${LIMITS.watchedNamespaces} (limit watchedNamespaces): narrow its namespaceSelector`;
    return { healthChecks: found.filter(mayWatch), healthLeftOut: asked.length, problems: [problem] };
  }
  const objects = await Promise.all(namespaces.map((name) => cluster.get({ ...NAMESPACES, name })));
  const willing = new Set(
    objects.filter((object) => mayBeWatched(object, home)).map((object) => object?.metadata.name),
  );
  const healthChecks = found.filter((check) => !asked.includes(check) || willing.has(check.metadata.namespace));
  return { healthChecks, healthLeftOut: found.length - healthChecks.length, problems: [] };
}
