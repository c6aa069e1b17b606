/**
 * What is read after the decision on a write of a Flux object:
 * - fields that the write would lose;
 * - what else is closed or suspended, and so the next obstacle.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { FluxObject, SourceRef } from '../../api/flux.ts';
import { GOVERNED_KINDS, governedKindOf, KINDS, resourceOf } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { WriteContext } from '../../core/admission/fluxWrite.ts';
import type { GateResult } from '../../core/gate/evaluateGates.ts';
import { sameJson } from '../../core/kube/json.ts';
import { identityOf } from '../../core/kube/names.ts';
import { deploymentOf } from '../../core/managedField/deployment.ts';
import { managedFieldsOf, readManagedField } from '../../core/managedField/managedFields.ts';
import { bypassingDeployCommand, type Denial, subjectOf } from '../../core/objectGates/gateTexts.ts';
import { isSuspendedByUs } from '../../core/objectGates/objectState.ts';
import { readClosedOfRollouts } from '../closedGates.ts';

/**
 * The denial of a write of a held object in another version than the stored one, if it lacks a field of the stored
 * spec. No webhook can bring back what such a write drops.
 * @param closed the Gates that hold the object
 */
export async function lostFieldsDenial(
  oldObject: FluxObject,
  closed: readonly GateResult[],
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Denial | undefined> {
  const { group, kind, version } = request.kind;
  const governed = governedKindOf(group, kind);
  if (governed === undefined) return undefined;
  const [current] = KINDS[governed].versions;
  const stored = await call.cluster.get<FluxObject>({ ...resourceOf(KINDS[governed]), ...identityOf(oldObject) });
  if (!stored || sameJson(stored.spec, oldObject.spec)) return undefined;
  const lost = Object.keys(stored.spec ?? {}).filter((key) => !sameJson(stored.spec?.[key], oldObject.spec?.[key]));
  // The other version may only add a default.
  if (lost.length === 0) return undefined;
  return {
    reason: 'gate_closed',
    text: `${subjectOf(oldObject)} cannot be written in ${group}/${version}, which drops or changes spec.${lost.join(', spec.')} (use ${group}/${current})`,
    closed,
  };
}

/**
 * The denial. If it sends the writer to a Rollout to deploy there, it also names the closed Gates for which that
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
  const bypasses = bound.map(({ metadata: { namespace, name }, spec }) => {
    const field = denied.find(({ rollout }) => rollout === name)!;
    const rollout = { namespace, name: field.rollout };
    return bypassingDeployCommand(rollout, readManagedField(object, field), Boolean(spec?.wantedVersion));
  });
  const commands = [...(denial.commands ?? []), ...bypasses];
  return { ...denial, text: `${denial.text} A deployment by that Rollout would wait`, closed, commands };
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
