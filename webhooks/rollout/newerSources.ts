/** What else goes out with a deployment that passes closed Gates: a Kustomization that runs applies whatever its source has fetched since. */
import type { Artifact, FluxObject } from '../../api/flux.ts';
import { FLUX_BINDINGS, KUSTOMIZATIONS } from '../../api/kinds.ts';
import type { ResourceRef, WebhookCall } from '../../api/ports.ts';
import type { FluxBinding, Rollout } from '../../api/types.ts';
import { boundTo } from '../../core/deployment/progress.ts';
import { MAX_LISTED } from '../../core/kube/firstFew.ts';
import { boundLabel, identityOf } from '../../core/kube/names.ts';
import { pinAnnotationsOf } from '../../core/pin/annotations.ts';
import { sourceResource } from '../../core/pin/source.ts';

/** A Warning for each, of the first few. Not where the Rollout pins the source: what that fetches is the deployment itself. */
export async function newerSources(rollout: Rollout, call: WebhookCall): Promise<string[]> {
  const { namespace, name } = identityOf(rollout);
  const labelSelector = boundLabel(name);
  const bindings = await call.cluster.list<FluxBinding>({ ...FLUX_BINDINGS, namespace, labelSelector });
  const syncs = boundTo(rollout, bindings).filter(({ spec }) => spec?.target.kind === 'Kustomization');
  const texts = await Promise.all(syncs.slice(0, MAX_LISTED).map((binding) => newerSource(binding, rollout, call)));
  return texts.filter((text) => text !== undefined);
}

async function newerSource(
  { metadata, spec }: FluxBinding,
  rollout: Rollout,
  { cluster }: WebhookCall,
): Promise<string | undefined> {
  const { source, target } = spec ?? {};
  const resource = source && sourceResource(source);
  if (!source || !resource || !target) return undefined;
  const { apiVersion, kind, ...named } = source;
  // Advice must not stop an emergency.
  const read = (ref: ResourceRef & { name: string }) => cluster.get<FluxObject>(ref).catch(() => undefined);
  const [object, sync] = await Promise.all([
    read({ apiVersion, resource, ...named }),
    read({ ...KUSTOMIZATIONS, namespace: metadata.namespace ?? '', name: target.name }),
  ]);
  const isPinned =
    named.namespace === metadata.namespace &&
    object !== undefined &&
    pinAnnotationsOf(object).pins.some((pin) => pin.rollout === rollout.metadata.name);
  const revision = (object?.status?.artifact as Artifact | undefined)?.revision;
  const { lastAppliedRevision } = (sync?.status ?? {}) as { lastAppliedRevision?: string };
  if (isPinned || revision === undefined || revision === lastAppliedRevision) return undefined;
  return `Kustomization ${target.name} also applies what ${kind} ${named.name} has fetched since it last applied`;
}
