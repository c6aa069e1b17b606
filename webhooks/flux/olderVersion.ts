/** Writes of a held object in a version that Flux serves beside the one it stores: no webhook can bring back what such a write drops. */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { FluxObject } from '../../api/flux.ts';
import { governedKindOf, KINDS, resourceOf } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { JudgedGate } from '../../core/gate/judge.ts';
import { type Refusal, subjectOf } from '../../core/hold/messages.ts';
import { sameJson } from '../../core/kube/json.ts';
import { identityOf } from '../../core/kube/names.ts';

/** undefined where the older version has every field of the stored spec. @param closed the Gates that hold the object */
export async function refuseLoss(
  { kind: { group, kind, version } }: AdmissionRequest,
  oldObject: FluxObject,
  closed: readonly JudgedGate[],
  call: WebhookCall,
): Promise<Refusal | undefined> {
  const governed = governedKindOf(group, kind);
  if (closed.length === 0 || governed === undefined) return undefined;
  const [current] = KINDS[governed].versions;
  if (version === current) return undefined;
  const stored = await call.cluster.get<FluxObject>({ ...resourceOf(KINDS[governed]), ...identityOf(oldObject) });
  if (!stored || sameJson(stored.spec, oldObject.spec)) return undefined;
  const lost = Object.keys(stored.spec ?? {}).filter((key) => !sameJson(stored.spec?.[key], oldObject.spec?.[key]));
  return {
    reason: 'gate_closed',
    text: `${subjectOf(oldObject)}: a write in ${group}/${version} drops or changes spec.${lost.join(', spec.')}. Write it in ${group}/${current}: `,
    closed,
  };
}
