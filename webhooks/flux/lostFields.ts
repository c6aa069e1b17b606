/** Writes in another API version than the stored one, which may drop fields that only the stored version has. */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { FluxObject } from '../../api/flux.ts';
import { governedKindOf, KINDS, resourceOf } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { GateResult } from '../../core/gate/evaluateGates.ts';
import { sameJson } from '../../core/kube/json.ts';
import { identityOf } from '../../core/kube/names.ts';
import { type Denial, subjectOf } from '../../core/objectGates/gateTexts.ts';

/**
 * Denies a write of a held object in another API version than the stored one, if that version lacks a field of the
 * stored spec: no webhook can restore what such a write drops.
 * @param closed the Gates that hold the object
 */
export async function lostFieldsDenial(
  oldObject: FluxObject | undefined,
  closed: readonly GateResult[],
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Denial | undefined> {
  const { group, kind, version } = request.kind;
  const governed = governedKindOf(group, kind);
  if (!oldObject || closed.length === 0 || governed === undefined || isInCurrentVersion(request)) return undefined;
  const [current] = KINDS[governed].versions;
  const stored = await call.cluster.get<FluxObject>({ ...resourceOf(KINDS[governed]), ...identityOf(oldObject) });
  if (!stored || sameJson(stored.spec, oldObject.spec)) return undefined;
  const lost = Object.keys(stored.spec ?? {}).filter((key) => !sameJson(stored.spec?.[key], oldObject.spec?.[key]));
  // The other version may merely add a default.
  if (lost.length === 0) return undefined;
  return {
    reason: 'gate_closed',
    text: `${subjectOf(oldObject)} cannot be written in ${group}/${version}, which drops or changes spec.${lost.join(', spec.')} (use ${group}/${current})`,
    closed,
  };
}

export function isInCurrentVersion({ kind: { group, kind, version } }: AdmissionRequest): boolean {
  const governed = governedKindOf(group, kind);
  return governed === undefined || KINDS[governed].versions[0] === version;
}
