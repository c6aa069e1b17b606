/** Whose order of versions a Rollout may see: that of its namespace, and elsewhere of whoever lets it watch, as with HealthChecks. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Rollout } from '../../../api/types.ts';
import { mayBeWatched } from '../../health/consent.ts';

/** The namespaces of stages that do not say it themselves: their Namespace decides. */
export function namespacesToAsk(rollout: Rollout, found: readonly Rollout[]): string[] {
  const { namespace: home = '' } = rollout.metadata;
  const silent = found.filter((stage) => stage.metadata.namespace !== home && !mayBeWatched(stage, home));
  return [...new Set(silent.map(({ metadata }) => metadata.namespace ?? ''))];
}

/** Those that it may come after; `namespaces` are those asked for. One that may not be seen is as one that does not exist. */
export function consenting(
  rollout: Rollout,
  found: readonly Rollout[],
  namespaces: readonly (KubeObject | undefined)[],
): Rollout[] {
  const { namespace: home = '' } = rollout.metadata;
  const willing = new Set(namespaces.filter((each) => mayBeWatched(each, home)).map((each) => each?.metadata.name));
  return found.filter(
    (stage) =>
      stage.metadata.namespace === home || mayBeWatched(stage, home) || willing.has(stage.metadata.namespace ?? ''),
  );
}
