/** Hints in the answer to a write of a Flux object: what else is closed or suspended. */
import type { FluxObject, SourceRef } from '../../api/flux.ts';
import { GOVERNED_KINDS, resourceOf } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { WriteContext } from '../../core/admission/fluxWrite.ts';
import { deploymentOf } from '../../core/managedField/deployment.ts';
import { managedFieldsOf, readManagedField } from '../../core/managedField/managedFields.ts';
import { type Denial, HOTFIX_HINT } from '../../core/objectGates/gateTexts.ts';
import { isSuspendedByUs } from '../../core/objectGates/objectState.ts';
import { readClosedOfRollouts } from '../closedGates.ts';

/**
 * The denial. If it tells the user to deploy through a Rollout, it also names the closed Gates for which that
 * deployment would wait.
 */
export async function withClosedGates(
  denial: Denial,
  object: FluxObject,
  { rollouts }: WriteContext,
  call: WebhookCall,
): Promise<Denial> {
  if (denial.reason !== 'managed_field') return denial;
  const denied = managedFieldsOf(object).fields.filter(
    (field) => readManagedField(object, field) !== deploymentOf(rollouts.get(field.rollout))?.version,
  );
  const names = new Set(denied.map(({ rollout }) => rollout));
  const bound = [...names].flatMap((name) => rollouts.get(name) ?? []);
  const closed = await readClosedOfRollouts(bound, call);
  if (closed.length === 0) return denial;
  return { ...denial, text: `${denial.text} Its deployment would also wait`, closed, hint: HOTFIX_HINT };
}

/**
 * The Warning that the sync's source is held too, and so fetches nothing new. There is none if the source can't be
 * read: a hint must not stop an emergency.
 */
export async function heldSourceWarning(sync: FluxObject, { cluster }: WebhookCall): Promise<string[]> {
  const chart = sync.spec?.chart as { spec?: { sourceRef?: SourceRef } } | undefined;
  const ref = (sync.spec?.sourceRef ?? sync.spec?.chartRef ?? chart?.spec?.sourceRef) as SourceRef | undefined;
  const row = GOVERNED_KINDS.find(({ kind, governed }) => governed === 'source' && kind === ref?.kind);
  if (!ref?.name || !row) return [];
  const namespace = ref.namespace ?? sync.metadata.namespace ?? '';
  const source = await cluster
    .get<FluxObject>({ ...resourceOf(row), namespace, name: ref.name })
    .catch(() => undefined);
  if (!source || !isSuspendedByUs(source)) return [];
  return [
    `${ref.kind} ${namespace}/${ref.name} is held by a closed Gate too and fetches nothing: bypass its Gates as well`,
  ];
}
