/** Flux objects that take versions, as their FluxBindings name them. */
import type { FluxObject } from '../../api/flux.ts';
import { BOUND_KINDS } from '../../api/kinds.ts';
import type { FluxBinding, Rollout } from '../../api/types.ts';
import type { Unread } from '../../client/explain/related.ts';
import { refKey } from '../../core/kube/names.ts';
import type { KubeClient } from '../kube/client.ts';
import { listed, noted, ONE_BY_ONE } from './listed.ts';

type BoundKind = (typeof BOUND_KINDS)[number];

/** The kinds of which the bindings have any. */
export function boundKinds(bindings: readonly FluxBinding[]): BoundKind[] {
  const named = new Set(bindings.map(({ spec }) => spec?.target.kind));
  return BOUND_KINDS.filter(({ kind }) => named.has(kind));
}

/** Those of some Rollouts: one by one where there are few. */
export async function readBound(
  client: KubeClient,
  rollouts: readonly Rollout[],
  bindings: readonly FluxBinding[],
  unread: Unread[],
): Promise<FluxObject[]> {
  const wanted = new Set(
    rollouts.map(({ metadata }) => refKey({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' })),
  );
  const own = bindings.filter(({ metadata: { namespace = '' }, spec }) =>
    spec?.pins?.some(({ rollout: name }) => wanted.has(refKey({ namespace, name }))),
  );
  const kinds = boundKinds(own);
  if (own.length > ONE_BY_ONE) {
    const namespaces = [...new Set(own.map(({ metadata }) => metadata.namespace ?? ''))];
    const from = namespaces.flatMap((namespace) => kinds.map(({ kind }) => ({ kind, namespace })));
    return (
      await Promise.all(from.map(({ kind, namespace }) => listed<FluxObject>(client, kind, namespace, unread)))
    ).flat();
  }
  const found = await Promise.all(
    own.map(async ({ metadata: { namespace = '' }, spec }) => {
      const row = kinds.find(({ kind }) => kind === spec?.target.kind);
      return row && noted<FluxObject>(client, row.kind, { namespace, name: spec?.target.name ?? '' }, unread);
    }),
  );
  return found.flatMap((object) => object ?? []);
}
