/** Whoever bypasses the Gates of a sync wants something new to be applied: a source that is held as well brings nothing new. */
import { SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject, SourceRef } from '../../api/flux.ts';
import { GOVERNED_KINDS, resourceOf } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';

/** At most one warning. Nothing where the source cannot be read: advice must not stop an emergency. */
export async function heldSourceWarning(sync: FluxObject, { cluster }: WebhookCall): Promise<string[]> {
  const ref = sourceRefOf(sync);
  const row = GOVERNED_KINDS.find(({ kind, governed }) => governed === 'source' && kind === ref?.kind);
  if (!ref?.name || !row) return [];
  const namespace = ref.namespace ?? sync.metadata.namespace ?? '';
  const source = await cluster
    .get<FluxObject>({ ...resourceOf(row), namespace, name: ref.name })
    .catch(() => undefined);
  const isHeld = source?.metadata.annotations?.[SUSPENDED] !== undefined && source.spec?.suspend === true;
  if (!isHeld) return [];
  return [
    `${ref.kind} ${namespace}/${ref.name} is held too and fetches nothing new: bypass it as well, see docs/gates.md`,
  ];
}

/** Of a HelmRelease: the chart's. */
function sourceRefOf({ spec }: FluxObject): SourceRef | undefined {
  const chart = spec?.chart as { spec?: { sourceRef?: SourceRef } } | undefined;
  return (spec?.sourceRef ?? spec?.chartRef ?? chart?.spec?.sourceRef) as SourceRef | undefined;
}
