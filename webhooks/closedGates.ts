/** Closed Gates in the way of a write: read, bypassed, or named in a denial. */
import type { AdmissionRequest } from '../api/admission.ts';
import { SELECTS_LABEL, SELECTS_ROLLOUTS_LABEL } from '../api/annotations.ts';
import type { FluxObject } from '../api/flux.ts';
import { apiVersionOf, BOUND_KINDS, FLUX_BINDINGS, GATES, KINDS, NAMESPACES, resourceOf } from '../api/kinds.ts';
import type { KubeObject, NamespacedName } from '../api/kubernetes.ts';
import type { WebhookCall } from '../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../api/types.ts';
import { type Refusal, refusalText } from '../core/admission/messages.ts';
import { type Bypass, recentReason } from '../core/gate/bypass.ts';
import { evaluateGates, type GateResult, type Readable, secrets } from '../core/gate/evaluateGates.ts';
import { isTooMany, TOO_MANY } from '../core/gate/refs.ts';
import { MAX_LISTED } from '../core/kube/firstFew.ts';
import { boundLabel, refKey } from '../core/kube/names.ts';
import { LIMITS } from '../core/limits.ts';
import { boundObjects, currentBindings } from '../core/rollout/evaluation/boundObjects.ts';
import { closedToLeave } from '../core/rollout/evaluation/namedGates.ts';
import { boundGates, droppedGates, gatesToPass, mayDropGates } from '../core/rollout/evaluation/requiredGates.ts';
import { getPast, recordBypass } from './bypass.ts';
import { type AdmissionDecision, allowed, denied, namespaceOf } from './response.ts';
import { readSelectors } from './selectingGates.ts';

/** Live: a cache may not know yet that a Gate has closed. More than the limit are closed and not read. */
export async function readClosed(
  refs: readonly NamespacedName[],
  { cluster, now }: WebhookCall,
): Promise<GateResult[]> {
  if (refs.length > LIMITS.requiredGates) return evaluateGates([TOO_MANY], () => undefined, now).closed;
  const read = async (ref: NamespacedName) => (isTooMany(ref) ? undefined : cluster.get<Gate>({ ...GATES, ...ref }));
  const gates = await Promise.all(refs.map(read));
  const found = new Map(refs.map((ref, i) => [refKey(ref), gates[i]]));
  return evaluateGates(refs, (ref) => found.get(refKey(ref)), now).closed;
}

/** Those in the way of a Rollout's deployments: those that it requires itself, and those of the objects bound to it, also where these have no FluxBinding. */
export async function readClosedOfAll(rollout: Rollout, call: WebhookCall): Promise<GateResult[]> {
  const { bindings, selectors } = await readRequirements(rollout, call);
  return readClosed(gatesToPass(rollout, bindings, selectors), call);
}

/** Those in the way of a write that ends the Rollout: all of these but the names in `spec.gates` that never were a Gate. */
export async function readClosedToLeave(rollout: Rollout, call: WebhookCall): Promise<GateResult[]> {
  const { bindings, selectors } = await readRequirements(rollout, call);
  const closed = await readClosed(gatesToPass(rollout, bindings, selectors), call);
  return closedToLeave(closed, rollout, new Set(boundGates(rollout, bindings).map(refKey)));
}

async function readRequirements(rollout: Rollout, call: WebhookCall) {
  // Read before anything is awaited: a throw between two reads leaves the first one's rejection to nobody, which ends the process.
  const { namespace = '' } = rollout.metadata;
  const [bindings, selectors] = await Promise.all([
    readBindings(rollout, call),
    readSelectors(namespace, call, SELECTS_ROLLOUTS_LABEL),
  ]);
  return { bindings, selectors };
}

/** As hooks/rollout/liveReads.ts has them before a deployment: a bypass must name every Gate that will hold it. */
async function readBindings(rollout: Rollout, call: WebhookCall): Promise<FluxBinding[]> {
  const { namespace = '', name = '' } = rollout.metadata;
  const rules = { ownNamespaceOnly: call.settings.noCrossNamespaceRefs };
  const [bindings, objects] = await Promise.all([
    call.cluster.list<FluxBinding>({ ...FLUX_BINDINGS, namespace, labelSelector: boundLabel(name) }),
    listBindable(namespace, call),
  ]);
  const bound = boundObjects(rollout, objects, bindings, rules);
  const selecting = bound.every(({ isVouched }) => isVouched)
    ? { gates: [], namespaceLabels: {} }
    : await readSelectors(namespace, call, SELECTS_LABEL);
  return currentBindings(rollout, bindings, bound, selecting, rules);
}

/** The metadata of the objects that annotations may bind to a Rollout. */
async function listBindable(namespace: string, { cluster }: WebhookCall): Promise<FluxObject[]> {
  const lists = await Promise.all(
    BOUND_KINDS.map(async (row) => {
      if (!(await cluster.serves(resourceOf(row)))) return [];
      const objects = await cluster.listMetadata({ ...resourceOf(row), namespace });
      return objects.map(({ metadata }) => ({ apiVersion: apiVersionOf(row), kind: row.kind, metadata }));
    }),
  );
  return lists.flat();
}

/** Those that a write of a Rollout no longer requires, but for names that never were a Gate. Nothing is read where it can drop none. */
export async function readClosedThatAreDropped(
  rollout: Rollout,
  before: Rollout,
  call: WebhookCall,
): Promise<GateResult[]> {
  if (!mayDropGates(rollout, before)) return [];
  const selectors = await readSelectors(before.metadata.namespace ?? '', call, SELECTS_ROLLOUTS_LABEL);
  return closedToLeave(await readClosed(droppedGates(rollout, before, selectors), call), before);
}

/** Lets whoever may bypass the gates get past them, and denies everybody else with `refusal`. */
export async function passOrDeny(
  object: KubeObject<any, any>,
  closed: readonly NamespacedName[],
  reason: string | undefined,
  refusal: (bypass: Bypass | undefined) => Refusal,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  const bypass = await getPast(closed, reason, request, call);
  if (bypass?.granted) return { allowed: true, audit: await recordBypass(bypass, object, request, call) };
  return deny(refusal(bypass), request, call);
}

/** The same for a DELETE. Where the Namespace is deleted with all that is in it, nothing is in the way. */
export async function passOrDenyDelete(
  object: KubeObject<any, any>,
  closed: readonly NamespacedName[],
  refusal: (bypass: Bypass | undefined) => Refusal,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  if (await isTerminating(namespaceOf(request), call)) return allowed();
  return passOrDeny(object, closed, recentReason(object, request.userInfo.username, call.now), refusal, request, call);
}

/** Reveals no more of Gates of other namespaces than the writer may read; access is reviewed only where there is something to reveal. */
export async function deny(
  refusal: Refusal,
  request: AdmissionRequest,
  call: WebhookCall,
  warnings: string[] = [],
): Promise<AdmissionDecision> {
  const namespace = namespaceOf(request);
  const readable = await readableGates(secrets(refusal.closed ?? [], namespace), request, call);
  return denied(refusal.reason, refusalText(refusal, namespace, readable), warnings);
}

/** A denial names no more of them than are asked about. */
async function readableGates(
  refs: readonly NamespacedName[],
  { userInfo }: AdmissionRequest,
  { access }: WebhookCall,
): Promise<Readable> {
  const requested = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()].slice(0, MAX_LISTED);
  const what = { verb: 'get', group: KINDS.Gate.group, resource: KINDS.Gate.resource };
  const may = await Promise.all(requested.map((ref) => access.may(userInfo, { ...what, ...ref })));
  return new Set(requested.filter((_, i) => may[i]).map(refKey));
}

async function isTerminating(name: string, { cluster }: WebhookCall): Promise<boolean> {
  const namespace = await cluster.get({ ...NAMESPACES, name });
  return !namespace || namespace.metadata.deletionTimestamp !== undefined;
}
