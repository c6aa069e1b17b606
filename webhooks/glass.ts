/** Whether the user of a request may break the glass, and the record of it (DESIGN section 7). */
import type { AdmissionRequest } from '../api/admission.ts';
import type { KubeObject, NamespacedName } from '../api/kubernetes.ts';
import type { WebhookCall } from '../api/ports.ts';
import { isPerson } from '../core/gate/glass.ts';
import { refKey } from '../core/gate/refs.ts';

export type Glass = { broken: true } | { broken: false; refused: string };

/** Asks for the verb `bypass` on each of the closed gates. */
export async function askForGlass(
  gates: readonly NamespacedName[],
  { userInfo }: AdmissionRequest,
  call: WebhookCall,
): Promise<Glass> {
  if (!isPerson(userInfo.username, call.settings.glassBreakers)) {
    return { broken: false, refused: `${userInfo.username} is a ServiceAccount and not listed as a glass breaker` };
  }
  const what = { verb: 'bypass', group: 'gating.toolkit.fluxcd.io', resource: 'gates' };
  const may = await Promise.all(gates.map((gate) => call.access.may(userInfo, { ...what, ...gate })));
  const refused = gates.filter((_, i) => !may[i]);
  if (refused.length === 0) return { broken: true };
  return { broken: false, refused: `${userInfo.username} has no verb bypass on ${refused.map(refKey).join(', ')}` };
}

/** Records the broken glass, except in a dry run, and gives the audit annotation. */
export function recordGlass(
  regarding: KubeObject<any, any>,
  gates: readonly NamespacedName[],
  reason: string,
  request: AdmissionRequest,
  call: WebhookCall,
): Record<string, string> {
  const { username } = request.userInfo;
  const message = `${username} broke the glass of ${gates.map(refKey).join(', ')} (${request.operation}): ${reason}`;
  if (!request.dryRun) {
    const key = `glass-${request.uid}`;
    call.events.record({ regarding, type: 'Warning', reason: 'GlassBroken', message, key, at: call.now });
  }
  return { bypass: message };
}
