/** Which Gates of other namespaces the writer of a request may read, so that a denial tells no more than that. */
import type { AdmissionRequest } from '../api/admission.ts';
import type { NamespacedName } from '../api/kubernetes.ts';
import type { WebhookCall } from '../api/ports.ts';
import type { Readable } from '../core/gate/reveal.ts';
import { MAX_LISTED } from '../core/kube/firstFew.ts';
import { refKey } from '../core/kube/names.ts';

/** A denial names no more of them than are asked about. */
export async function readableGates(
  refs: readonly NamespacedName[],
  { userInfo }: AdmissionRequest,
  { access }: WebhookCall,
): Promise<Readable> {
  const asked = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()].slice(0, MAX_LISTED);
  const what = { verb: 'get', group: 'gating.toolkit.fluxcd.io', resource: 'gates' };
  const may = await Promise.all(asked.map((ref) => access.may(userInfo, { ...what, ...ref })));
  return new Set(asked.filter((_, i) => may[i]).map(refKey));
}
