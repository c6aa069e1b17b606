/** Which HealthChecks a Rollout watches: those of its namespace, and of other namespaces those that consent. */
import { WATCHED_FROM } from '../../api/annotations.ts';
import { HEALTH_CHECKS, NAMESPACES } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import { specProblems } from '../../core/evaluation/config.ts';
import { healthCheckLabels } from '../../core/health/association.ts';
import { mayBeWatched } from '../../core/health/consent.ts';
import { toSelectorString } from '../../core/kube/selector.ts';
import { LIMITS } from '../../core/limits.ts';
import { inParallel } from '../inParallel.ts';

export interface WatchedChecks {
  healthChecks: HealthCheck[];
  /** How many more the selector matches. */
  healthLeftOut: number;
  problems: string[];
}

const AT_ONCE = 8;
/** What is kept of the metadata of a HealthCheck or Namespace. */
interface Consenting {
  metadata: { name: string; namespace?: string; annotations: Record<string, string> };
}

interface Listed {
  checks: Consenting[];
  /** There are more. */
  isTruncated: boolean;
}

/** `related`: the HealthChecks that were sent. Those of other namespaces are read live: what has not consented must not make a request too large. */
export async function watchedChecks(
  rollout: Rollout,
  related: readonly HealthCheck[],
  call: Pick<HookCall, 'cluster' | 'settings' | 'recent'>,
): Promise<WatchedChecks> {
  const { metadata, spec } = rollout;
  const { namespace: home = '' } = metadata;
  const own = related.filter((check) => check.metadata.namespace === home);
  const labels = healthCheckLabels(spec?.healthCheckSelector);
  const namespaceSelector = spec?.healthCheckSelector?.namespaceSelector;
  const reachesOut = namespaceSelector && labels && !call.settings.noCrossNamespaceRefs;
  if (!reachesOut || specProblems(spec ?? {}).length > 0) return bounded(own, [], 0, call.cluster);

  const namespaces = await listedNamespaces(toSelectorString(namespaceSelector), call);
  const inHome = namespaces.has(home) ? own : [];
  const others = [...namespaces.keys()].filter((name) => name !== home);
  const found = await listedChecks(toSelectorString(labels), others, call);
  if (!found) {
    const problem = `spec.healthCheckSelector matches more than ${LIMITS.listedHealthChecks} HealthChecks (limit listedHealthChecks) and ${others.length} other namespaces, more than ${LIMITS.watchedNamespaces} (limit watchedNamespaces): narrow its namespaceSelector`;
    return { healthChecks: inHome, healthLeftOut: 0, problems: [problem] };
  }
  const willing = found.filter(
    (check) =>
      call.settings.watchWithoutConsent ||
      mayBeWatched(check, home) ||
      mayBeWatched(namespaces.get(check.metadata.namespace ?? ''), home),
  );
  return bounded(inHome, willing, found.length - willing.length, call.cluster);
}

async function bounded(
  own: HealthCheck[],
  willing: readonly Consenting[],
  healthLeftOut: number,
  cluster: ClusterReader,
): Promise<WatchedChecks> {
  const count = own.length + willing.length;
  if (count > LIMITS.watchedHealthChecks) {
    const problem = `spec.healthCheckSelector matches ${count} HealthChecks, more than ${LIMITS.watchedHealthChecks} (limit watchedHealthChecks): narrow it`;
    return { healthChecks: own, healthLeftOut, problems: [problem] };
  }
  const read = await inParallel(willing, AT_ONCE, ({ metadata: { name, namespace = '' } }) =>
    cluster.get<HealthCheck>({ ...HEALTH_CHECKS, namespace, name }),
  );
  return { healthChecks: [...own, ...read.filter((check) => check !== undefined)], healthLeftOut, problems: [] };
}

function listedNamespaces(
  labelSelector: string,
  { cluster, recent }: Pick<HookCall, 'cluster' | 'recent'>,
): Promise<ReadonlyMap<string, Consenting>> {
  return recent.fresh(`consenting namespaces ${labelSelector}`, async () => {
    const listed = await cluster.listMetadata({ ...NAMESPACES, labelSelector });
    return new Map(listed.map((each) => [each.metadata.name ?? '', consenting(each)]));
  });
}

/**
 * The HealthChecks in these namespaces that have the labels. One list for the cluster; where a namespace has so many that it does not
 * end, one for each, so that it takes no other's place. undefined where that would be too many lists.
 */
async function listedChecks(
  labelSelector: string,
  namespaces: readonly string[],
  { cluster, recent }: Pick<HookCall, 'cluster' | 'recent'>,
): Promise<Consenting[] | undefined> {
  const list = (namespace?: string) =>
    recent.fresh(`healthchecks ${namespace ?? ''} ${labelSelector}`, () =>
      listOf(cluster, { labelSelector, ...(namespace !== undefined && { namespace }) }),
    );
  if (namespaces.length === 0) return [];
  const { checks, isTruncated } = await list();
  const selected = new Set(namespaces);
  if (!isTruncated) return checks.filter(({ metadata }) => selected.has(metadata.namespace ?? ''));
  if (namespaces.length > LIMITS.watchedNamespaces) return undefined;
  return (await inParallel(namespaces, AT_ONCE, list)).flatMap((each) => each.checks);
}

async function listOf(cluster: ClusterReader, where: { labelSelector: string; namespace?: string }): Promise<Listed> {
  const checks: Consenting[] = [];
  for await (const page of cluster.pages({ ...HEALTH_CHECKS, ...where, metadataOnly: true })) {
    const room = LIMITS.listedHealthChecks - checks.length;
    checks.push(...page.slice(0, room).map(consenting));
    if (page.length > room) return { checks, isTruncated: true };
  }
  return { checks, isTruncated: false };
}

function consenting({ metadata: { name = '', namespace, annotations } }: Pick<KubeObject, 'metadata'>): Consenting {
  const watchedFrom = annotations?.[WATCHED_FROM];
  return {
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      annotations: watchedFrom === undefined ? {} : { [WATCHED_FROM]: watchedFrom },
    },
  };
}
