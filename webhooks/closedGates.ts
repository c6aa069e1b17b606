/**
 * The closed Gates that stop a write: read live, bypassed with the verb `bypass` and a reason, or named in a denial.
 */
import type { AdmissionRequest } from '../api/admission.ts';
import { BYPASS_REASON, BYPASSED_BY, SELECTS_ROLLOUTS_LABEL } from '../api/annotations.ts';
import { GATES, GOVERNED_KINDS, KINDS, NAMESPACES, resourceOf } from '../api/kinds.ts';
import type { AnyObject, NamespacedName } from '../api/kubernetes.ts';
import type { ResourceRef, StoredFact, WebhookCall } from '../api/ports.ts';
import type { FluxBinding, Gate, GateStatus, Rollout } from '../api/types.ts';
import { type Refusal, refusalText } from '../core/admission/gateTexts.ts';
import { type Bypass, freshReason, mayRequestBypass, recentReason } from '../core/gate/bypassReason.ts';
import { evaluateGates, type GateResult, hiddenGates } from '../core/gate/evaluateGates.ts';
import { isTooMany, TOO_MANY } from '../core/gate/gateRefs.ts';
import { MAX_LISTED } from '../core/kube/firstFew.ts';
import { byRefKey, refKey, uniqueRefs } from '../core/kube/names.ts';
import { LIMITS } from '../core/limits.ts';
import { involvedObjectsOf } from '../core/notification/involvedObjects.ts';
import { closedToLeave } from '../core/rollout/evaluation/namedGates.ts';
import {
  boundGates,
  droppedGates,
  mayDropGates,
  rolloutRequiredGates,
} from '../core/rollout/evaluation/requiredGates.ts';
import { listBindable, listBindings, readSelectors, withCurrentGates } from '../live/gateReads.ts';
import { type AdmissionDecision, allowed, denied, namespaceOf } from './response.ts';

/**
 * The closed Gates among these, live: a cache may not know yet that a Gate has closed.
 * More than the limit are closed and not read.
 */
export async function readClosed(
  refs: readonly NamespacedName[],
  { cluster, now }: WebhookCall,
): Promise<GateResult[]> {
  if (refs.length > LIMITS.requiredGates) return evaluateGates([TOO_MANY], new Map(), now).closed;
  const read = async (ref: NamespacedName) => (isTooMany(ref) ? undefined : cluster.get<Gate>({ ...GATES, ...ref }));
  const gates = await Promise.all(refs.map(read));
  return evaluateGates(refs, byRefKey(gates.filter((gate) => gate !== undefined)), now).closed;
}

/**
 * The closed Gates that stop deployments of these Rollouts of one namespace: those that they require themselves, and
 * those of all objects bound to them, also if these have no FluxBinding.
 */
export async function readClosedOfAll(rollouts: readonly Rollout[], call: WebhookCall): Promise<GateResult[]> {
  return (await readRequired(rollouts, call)).closed;
}

/**
 * The closed Gates that stop a write that ends the Rollout: those of `readClosedOfAll` but the names in `spec.gates`
 * that never were a Gate.
 */
export async function readClosedToLeave(rollout: Rollout, call: WebhookCall): Promise<GateResult[]> {
  const { closed, bindings } = await readRequired([rollout], call);
  return closedToLeave(closed, rollout, new Set(boundGates(rollout, bindings).map(refKey)));
}

/**
 * The closed Gates that a write of a Rollout no longer requires, but for names that never were a Gate.
 * Nothing is read if it can drop none.
 */
export async function readClosedThatAreDropped(
  rollout: Rollout,
  before: Rollout,
  call: WebhookCall,
): Promise<GateResult[]> {
  if (!mayDropGates(rollout, before)) return [];
  const selectors = await readSelectors(before.metadata.namespace ?? '', SELECTS_ROLLOUTS_LABEL, call.cluster);
  return closedToLeave(await readClosed(droppedGates(rollout, before, selectors), call), before);
}

async function readRequired(
  rollouts: readonly Rollout[],
  call: WebhookCall,
): Promise<{ closed: GateResult[]; bindings: FluxBinding[] }> {
  // Read before anything is awaited: a throw between two reads leaves the first one's rejection unhandled, which ends
  // the process.
  const namespace = rollouts[0]?.metadata.namespace ?? '';
  const [objects, selectors, ...stored] = await Promise.all([
    listBindable(namespace, call.cluster),
    readSelectors(namespace, SELECTS_ROLLOUTS_LABEL, call.cluster),
    ...rollouts.map((rollout) => listBindings(rollout, call.cluster)),
  ]);
  const bindings = await withCurrentGates(rollouts, stored, objects, call);
  const required = rollouts.flatMap((rollout, index) => rolloutRequiredGates(rollout, bindings[index]!, selectors));
  return { closed: await readClosed(uniqueRefs(required), call), bindings: bindings.flat() };
}

// A bypass of closed Gates, or a denial.

export interface Granted {
  granted: true;
  /** The closed ones. */
  gates: readonly NamespacedName[];
  reason: string;
  /** The version of a Rollout that bypasses them. */
  version?: string | undefined;
}

/** Reviews the verb `bypass` on each of the closed Gates. undefined: no reason is given, or no Gate is closed. */
export async function reviewBypass(
  closed: readonly Pick<GateResult, 'ref'>[],
  reason: string | undefined,
  { userInfo }: AdmissionRequest,
  { settings, access }: WebhookCall,
): Promise<Granted | { granted: false; refused: string } | undefined> {
  if (reason === undefined || closed.length === 0) return undefined;
  const { username } = userInfo;
  if (!mayRequestBypass(username, settings.bypassServiceAccounts)) {
    return { granted: false, refused: `${username} is a ServiceAccount and not listed in BYPASS_SERVICE_ACCOUNTS` };
  }
  const gates = closed.map(({ ref }) => ref);
  const { group, resource } = KINDS.Gate;
  const may = await Promise.all(
    gates.map((gate) => access.may(userInfo, { verb: 'bypass', group, resource, ...gate })),
  );
  const refused = gates.filter((_, i) => !may[i]).map(refKey);
  if (refused.length === 0) return { granted: true, gates, reason };
  return { granted: false, refused: `${username} lacks the verb bypass on ${refused.join(', ')}` };
}

/**
 * Admits a writer who may bypass the gates, and denies any other with `refusal`.
 * If the Namespace is deleted with all that is in it, nothing stops a DELETE.
 * @param object as the write stores it; for a DELETE and a write of the status, which can't carry a reason, as it is
 * stored
 */
export async function bypassOrDeny(
  object: AnyObject,
  closed: readonly Pick<GateResult, 'ref'>[],
  refusal: (bypass: Bypass | undefined) => Refusal,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  const { operation, subResource, oldObject, userInfo } = request;
  if (operation === 'DELETE' && (await isTerminating(namespaceOf(request), call))) return allowed();
  const carriesReason = operation !== 'DELETE' && !subResource;
  const reason = carriesReason
    ? freshReason(object, oldObject ?? undefined)
    : recentReason(object, userInfo.username, call.now);
  const bypass = await reviewBypass(closed, reason, request, call);
  if (bypass?.granted) return { allowed: true, audit: await recordBypass(bypass, object, request, call) };
  return deny(refusal(bypass), request, call);
}

/**
 * Reveals no more of Gates of other namespaces than the writer may read; access is reviewed only if there is something
 * to reveal.
 */
export async function deny(
  refusal: Refusal,
  request: AdmissionRequest,
  { access }: WebhookCall,
  warnings: string[] = [],
): Promise<AdmissionDecision> {
  const namespace = namespaceOf(request);
  // A denial names no more Gates than are reviewed.
  const reviewed = uniqueRefs(hiddenGates(refusal.closed ?? [], namespace)).slice(0, MAX_LISTED);
  const { group, resource } = KINDS.Gate;
  const may = await Promise.all(
    reviewed.map((ref) => access.may(request.userInfo, { verb: 'get', group, resource, ...ref })),
  );
  const readable = new Set(reviewed.filter((_, i) => may[i]).map(refKey));
  return denied(refusal.reason, refusalText(refusal, namespace, readable), warnings);
}

async function isTerminating(name: string, { cluster }: WebhookCall): Promise<boolean> {
  const namespace = await cluster.get({ ...NAMESPACES, name });
  return !namespace || namespace.metadata.deletionTimestamp !== undefined;
}

/**
 * Gives the audit annotation, and records the bypass when the object is seen to be stored so, or to be gone.
 * Not in a dry run.
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
    // The API server calls again, under another uid, when another user's write comes between.
    const { kind, metadata } = regarding;
    const write = [request.operation, request.subResource ?? '', metadata.annotations?.[BYPASSED_BY], reason];
    const key = ['bypass', kind, fact.object.namespace, fact.object.name, ...write].join(' ');
    call.metrics.count({ name: 'rollout_hooks_gate_bypasses_total', labels: {}, key });
    // The objects that a Gate holds; other objects report themselves, or by the objects bound to them.
    const involvedObjects = involvedObjectsOf(
      (regarding.status as GateStatus)?.heldObjects ?? [],
      fact.object.namespace,
    );
    const event = { type: 'Warning', reason: 'GateBypassed', message, key, at: call.now } as const;
    call.events.recordWhen({ regarding, ...event, involvedObjects }, fact);
  }
  return { bypass: message };
}

/** undefined if the stored object differs already. */
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

/** In the API version that we read, not the request's. */
function refOf({ kind, metadata }: AnyObject, namespace = ''): (ResourceRef & { name: string }) | undefined {
  const known = [...GOVERNED_KINDS, KINDS.Gate, KINDS.Rollout].find((row) => row.kind === kind);
  return known && metadata.name
    ? { ...resourceOf(known), namespace: metadata.namespace ?? namespace, name: metadata.name }
    : undefined;
}
