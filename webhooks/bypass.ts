/** Getting past closed Gates with the verb `bypass` and a reason: who may, and what is recorded of it. */
import type { AdmissionRequest } from '../api/admission.ts';
import { BYPASS_REASON, BYPASSED_BY } from '../api/annotations.ts';
import { GOVERNED_KINDS, KINDS, resourceOf } from '../api/kinds.ts';
import type { KubeObject, NamespacedName } from '../api/kubernetes.ts';
import type { ResourceRef, StoredFact, WebhookCall } from '../api/ports.ts';
import type { GateStatus } from '../api/types.ts';
import { mayAsk } from '../core/gate/bypass.ts';
import { refKey } from '../core/kube/names.ts';
import { involvedObjectsOf } from '../core/notification/involvedObjects.ts';

export interface Granted {
  granted: true;
  /** The closed ones. */
  gates: readonly NamespacedName[];
  reason: string;
  /** Of a Rollout: the version that is let past. */
  version?: string | undefined;
}

/** Asks for the verb `bypass` on each of the closed gates. undefined: no reason is given, or no gate is closed. */
export async function getPast(
  gates: readonly NamespacedName[],
  reason: string | undefined,
  { userInfo }: AdmissionRequest,
  call: WebhookCall,
): Promise<Granted | { granted: false; refused: string } | undefined> {
  if (reason === undefined || gates.length === 0) return undefined;
  if (!mayAsk(userInfo.username, call.settings.bypassServiceAccounts)) {
    return {
      granted: false,
      refused: `${userInfo.username} is a ServiceAccount and not listed in BYPASS_SERVICE_ACCOUNTS`,
    };
  }
  const what = { verb: 'bypass', group: KINDS.Gate.group, resource: KINDS.Gate.resource };
  const may = await Promise.all(gates.map((gate) => call.access.may(userInfo, { ...what, ...gate })));
  const refused = gates.filter((_, i) => !may[i]);
  if (refused.length === 0) return { granted: true, gates, reason };
  return { granted: false, refused: `${userInfo.username} has no verb bypass on ${refused.map(refKey).join(', ')}` };
}

type AnyObject = KubeObject<any, any>;

/**
 * Gives the audit annotation, and records the bypass when the object is seen to be stored so, or to be gone. Not in a dry run.
 * @param regarding as the write stores it; as it is stored, for a DELETE
 */
export async function recordBypass(
  { gates, reason, version }: Granted,
  regarding: AnyObject,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Record<string, string>> {
  const { username } = request.userInfo;
  const what = version === undefined ? request.operation : `${request.operation}, version ${version}`;
  const message = `${username} bypassed ${gates.map(refKey).join(', ')} (${what}): ${reason}`;
  const fact = request.dryRun ? undefined : await factOf(regarding, request, call);
  if (fact) {
    // The API server asks again, under another uid, when somebody else's write comes between.
    const { kind, metadata } = regarding;
    const write = [request.operation, request.subResource ?? '', metadata.annotations?.[BYPASSED_BY], reason];
    const key = ['bypass', kind, fact.object.namespace, fact.object.name, ...write].join(' ');
    call.metrics.count({ name: 'rollout_hooks_gate_bypasses_total', labels: {}, key });
    // Of a Gate, for the others tell of themselves, or by what is bound to them.
    const standIns = involvedObjectsOf((regarding.status as GateStatus)?.heldObjects ?? [], fact.object.namespace);
    const event = { type: 'Warning', reason: 'GateBypassed', message, key, at: call.now } as const;
    call.events.recordWhen({ regarding, ...event, standIns }, fact);
  }
  return { bypass: message };
}

/** undefined where what is stored says otherwise already. */
async function factOf(
  regarding: AnyObject,
  { operation, namespace, userInfo }: AdmissionRequest,
  call: WebhookCall,
): Promise<StoredFact | undefined> {
  const object = refOf(regarding, namespace);
  if (!object) return undefined;
  const annotations = recordIn(regarding);
  if (!annotations[BYPASSED_BY]?.endsWith(` ${userInfo.username}`)) return undefined;
  if (operation !== 'DELETE') return { object, annotations };
  // Only the live object, which is still there, vouches for the oldObject of a request.
  const live = await call.cluster.get(object);
  const { uid } = regarding.metadata;
  if (live?.metadata.uid !== uid || recordIn(live)[BYPASSED_BY] !== annotations[BYPASSED_BY]) return undefined;
  return { object, uid, gone: true };
}

function recordIn(object: AnyObject | undefined): Record<string, string | undefined> {
  const { [BYPASS_REASON]: reason, [BYPASSED_BY]: by } = object?.metadata.annotations ?? {};
  return { [BYPASS_REASON]: reason, [BYPASSED_BY]: by };
}

/** In the version that we read, whatever the request says. */
function refOf({ kind, metadata }: AnyObject, namespace = ''): (ResourceRef & { name: string }) | undefined {
  const known = [...GOVERNED_KINDS, KINDS.Gate, KINDS.Rollout].find((row) => row.kind === kind);
  return known && metadata.name
    ? { ...resourceOf(known), namespace: metadata.namespace ?? namespace, name: metadata.name }
    : undefined;
}
