/** A Gate that selects beyond its own namespace holds what belongs to others: that takes a right given for the whole cluster. */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Gate } from '../../api/types.ts';
import { BEYOND_FORBIDDEN, reachesBeyond } from '../../core/gate/selects.ts';
import { sameJson } from '../../core/kube/json.ts';

const VERB = 'select-namespaces';

/** The sentence that refuses it. Asked whenever such a selection is made or changed: what was there before stays. */
export async function refuseReach(
  gate: Gate,
  old: Gate | undefined,
  { userInfo }: AdmissionRequest,
  { access, settings }: WebhookCall,
): Promise<string | undefined> {
  const { selects } = gate.spec;
  if (!reachesBeyond(selects) || sameJson(selects, old?.spec.selects)) return undefined;
  if (settings.noCrossNamespaceRefs) return BEYOND_FORBIDDEN;
  const where = { group: 'gating.toolkit.fluxcd.io', resource: 'gates', namespace: '', name: gate.metadata.name ?? '' };
  if (await access.may(userInfo, { verb: VERB, ...where })) return undefined;
  return (
    `spec.selects.namespaceSelector: ${userInfo.username} may not hold objects of other namespaces: it takes the verb ` +
    `${VERB} on gates for the whole cluster (ClusterRole gate-selector, by a ClusterRoleBinding). ` +
    'Without namespaceSelector a Gate selects in its own namespace.'
  );
}
