/** A bypass of closed Gates, with the verb `bypass` and a reason, or the denial of one. */
import type { AdmissionRequest } from '../api/admission.ts';
import { BYPASS_REASON, BYPASSED_BY } from '../api/annotations.ts';
import { GOVERNED_KINDS, KINDS, NAMESPACES, resourceOf } from '../api/kinds.ts';
import type { AnyObject, NamespacedName } from '../api/kubernetes.ts';
import type { ResourceRef, StoredFact, WebhookCall } from '../api/ports.ts';
import type { GateStatus } from '../api/types.ts';
import { involvedObjectsOf } from '../core/binding/involvedObjects.ts';
import {
  type Bypass,
  bypassProblem,
  endedRecord,
  freshReason,
  type GrantedBypass,
  recentReason,
} from '../core/gate/bypassReason.ts';
import { type ClosedGates, gateKeys } from '../core/gate/closedGates.ts';
import { shortHash } from '../core/kube/names.ts';
import { LIMITS } from '../core/limits.ts';
import { bypassText, type Denial } from '../core/objectGates/gateTexts.ts';
import { firstFew } from '../core/text/firstFew.ts';
import { boundedLine } from '../core/text/oneLine.ts';
import { inParallel } from '../live/inParallel.ts';
import { type AdmissionDecision, allowed, deny, namespaceOf } from './response.ts';

/** Stands for all Gates: any of them may hold an object beyond a limit. */
const ALL_GATES: NamespacedName = { namespace: '', name: '' };

/**
 * Whether the user has the verb `bypass` on every one of the closed Gates; undefined without a reason, or if no Gate is
 * closed.
 */
export async function reviewBypass(
  closed: ClosedGates | undefined,
  reason: string | undefined,
  { userInfo }: AdmissionRequest,
  { settings, access }: WebhookCall,
): Promise<Bypass | undefined> {
  if (reason === undefined || !closed) return undefined;
  const { username } = userInfo;
  const why = bypassProblem(username, reason, settings.bypassServiceAccounts);
  if (why !== undefined) return { granted: false, why };
  const { group, resource } = KINDS.Gate;
  const may = (ref: NamespacedName) => access.may(userInfo, { verb: 'bypass', group, resource, ...ref });
  const mayAll = !closed.limit || (await may(ALL_GATES));
  const mayEach = await inParallel(closed.gates, ({ ref: { namespace, name } }) => may({ namespace, name }));
  const lacking = closed.gates.filter((_, i) => !mayEach[i]);
  if (mayAll && lacking.length === 0) return { granted: true, gates: gateKeys(closed), reason };
  const names = firstFew(lacking.map(({ key }) => key));
  const which = mayAll ? `${lacking.length > 1 ? 'Gates' : 'Gate'} ${names}` : 'all Gates of the cluster';
  return { granted: false, why: `${username} isn't allowed to bypass ${which} (verb bypass)` };
}

/**
 * Allows the write of a user who may bypass the Gates, and denies any other with `denial` and how to bypass them.
 * In a Namespace that is being deleted, nothing stops a DELETE.
 * @param object the object as the write stores it; for a DELETE or a write of the status, which can't carry a reason,
 * the stored object
 */
export async function bypassOrDeny(
  object: AnyObject,
  closed: ClosedGates | undefined,
  denial: Denial,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  const { operation, subResource, oldObject, userInfo } = request;
  if (operation === 'DELETE' && (await isTerminating(namespaceOf(request), call))) return allowed();
  if (!closed) return deny(denial, request, call);
  const when = operation === 'DELETE' ? 'delete' : subResource ? 'status' : 'write';
  const reason =
    when === 'write' ? freshReason(object, oldObject ?? undefined) : recentReason(object, userInfo.username, call.now);
  const bypass = await reviewBypass(closed, reason, request, call);
  if (bypass?.granted) return { allowed: true, audit: await recordBypass(bypass, object, request, call) };
  return deny({ ...denial, todo: { ...denial.todo, text: bypassText(bypass, when, closed) } }, request, call);
}

async function isTerminating(name: string, { cluster }: WebhookCall): Promise<boolean> {
  const namespace = await cluster.get({ ...NAMESPACES, name });
  return !namespace || namespace.metadata.deletionTimestamp !== undefined;
}

/**
 * The audit annotation of a bypass. Also records the bypass, once the cluster shows the object stored or gone; not in a
 * dry run.
 * @param regarding the object as the write stores it; for a DELETE the stored object
 * @param version the version of a Rollout that bypasses the Gates
 */
export async function recordBypass(
  { gates, reason }: GrantedBypass,
  regarding: AnyObject,
  request: AdmissionRequest,
  call: WebhookCall,
  version?: string,
): Promise<Record<string, string>> {
  const { username } = request.userInfo;
  const what = version === undefined ? request.operation : `${request.operation}, version ${version}`;
  const message = `${username} bypassed ${firstFew(gates)} (${what}): ${boundedLine(reason, LIMITS.reason)}`;
  const fact = request.dryRun ? undefined : await bypassFact(regarding, request, call);
  if (fact) {
    // If another write comes in between, the API server calls again with another uid.
    const { kind, metadata } = regarding;
    const write = [request.operation, request.subResource ?? '', metadata.annotations?.[BYPASSED_BY], reason];
    const writeKey = ['bypass', kind, fact.object.namespace, fact.object.name, ...write].join(' ');
    const count = { name: 'rollout_hooks_gate_bypasses_total', labels: {}, key: writeKey } as const;
    // One write may bypass some Gates for a version, and others by dropping them: each of the two is an Event.
    const key = `${writeKey} ${version ?? ''} ${shortHash([...gates].sort().join())}`;
    // The objects that a Gate holds. Other objects report themselves, or are reported by the objects bound to them.
    const involvedObjects = involvedObjectsOf(
      (regarding.status as GateStatus)?.requiredBy ?? [],
      fact.object.namespace,
    );
    const event = { type: 'Warning', reason: 'GateBypassed', message, key, at: call.now } as const;
    call.events.recordWhen({ regarding: bareObject(regarding), ...event, involvedObjects }, fact, count);
  }
  return { bypass: message };
}

/** The fact that the cluster shows once the write is stored; undefined if the write records no bypass by its user. */
async function bypassFact(
  regarding: AnyObject,
  { operation, namespace, oldObject, userInfo }: AdmissionRequest,
  call: WebhookCall,
): Promise<StoredFact | undefined> {
  const object = resourceRefOf(regarding, namespace);
  if (!object) return undefined;
  const annotations = bypassRecordIn(regarding);
  if (!annotations[BYPASSED_BY]?.endsWith(` ${userInfo.username}`)) return undefined;
  // The new object may lack its uid.
  const { uid } = (oldObject ?? regarding).metadata;
  // The next write may remove the reason before the cluster is read.
  if (operation !== 'DELETE')
    return { object, uid, annotations: [annotations, { [BYPASSED_BY]: endedRecord(regarding) }] };
  // Any client may send a request about any object. Only the live object proves that oldObject is the stored one.
  const live = await call.cluster.get(object);
  if (live?.metadata.uid !== uid || bypassRecordIn(live)[BYPASSED_BY] !== annotations[BYPASSED_BY]) return undefined;
  return { object, uid, gone: true };
}

/** The object reduced to its identity: an Event may wait for seconds, and the object may be large. */
function bareObject({ apiVersion, kind, metadata: { namespace, name, uid } }: AnyObject): AnyObject {
  return { apiVersion, kind, metadata: { namespace, name, uid } } as AnyObject;
}

function bypassRecordIn(object: AnyObject | undefined): Record<string, string | undefined> {
  const { [BYPASS_REASON]: reason, [BYPASSED_BY]: by } = object?.metadata.annotations ?? {};
  return { [BYPASS_REASON]: reason, [BYPASSED_BY]: by };
}

/** A reference to the object in the API version that we read, which may differ from the request's. */
function resourceRefOf({ kind, metadata }: AnyObject, namespace = ''): (ResourceRef & { name: string }) | undefined {
  const known = [...GOVERNED_KINDS, KINDS.Gate, KINDS.Rollout].find((row) => row.kind === kind);
  return known && metadata.name
    ? { ...resourceOf(known), namespace: metadata.namespace ?? namespace, name: metadata.name }
    : undefined;
}
