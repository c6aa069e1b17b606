/** Admission of Flux objects that name Rollouts or Gates. The decisions are in core/pin and core/hold; here is what they need. */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { WebhookCall } from '../../api/ports.ts';
import { freshReason, recentReason } from '../../core/gate/bypass.ts';
import type { JudgedGate } from '../../core/gate/judge.ts';
import { type Readable, reveal, secrets } from '../../core/gate/reveal.ts';
import { refuseDeletion } from '../../core/hold/deletion.ts';
import { subjectOf } from '../../core/hold/messages.ts';
import { isOutOfScope, judgeWrite } from '../../core/hold/mutate.ts';
import { refuseCrowd, refuseForeign } from '../../core/hold/reads.ts';
import { repaired } from '../../core/hold/repair.ts';
import { allClosed, closedGates, type GateWorld, requiredGates } from '../../core/hold/requiredGates.ts';
import { verifyFrozen } from '../../core/hold/validate.ts';
import { isCleaner } from '../../core/kube/systemDeleters.ts';
import { verifyPins } from '../../core/pin/validate.ts';
import { asksToResume } from '../../core/suspend/suspension.ts';
import { askForGlass, recordGlass } from '../bypass.ts';
import { readableGates } from '../readable.ts';
import { allowed, denied, type Verdict } from '../response.ts';
import { isStale } from './stale.ts';
import {
  namespaceOf,
  objectsOf,
  readApplier,
  readClosedForPins,
  readGateWorld,
  readNamespace,
  readRollouts,
} from './world.ts';

export async function mutateFlux(request: AdmissionRequest, call: WebhookCall): Promise<Verdict> {
  const { object, oldObject: stored } = objectsOf(request);
  if (!object || request.subResource || (stored && isOutOfScope(object, stored))) return allowed();
  if (isStale(object, stored)) return allowed();
  const foreign = call.settings.noCrossNamespaceRefs ? refuseForeign(object, stored) : undefined;
  if (foreign) return denied('not_permitted', `${subjectOf(object)}: ${foreign}`);
  const crowd = refuseCrowd(object, stored);
  if (crowd) return denied('limit', `${subjectOf(object)}: ${crowd}`);
  const namespace = namespaceOf(request);
  const [rollouts, world, closedForPins, applier] = await Promise.all([
    readRollouts(object, namespace, call),
    readGateWorld(stored ? [object, stored] : [object], namespace, call, !stored),
    stored ? readClosedForPins(object, stored, namespace, call) : [],
    asksToResume(object, stored) ? readApplier(object, call) : undefined,
  ]);
  const oldObject = stored && repaired(object, stored, world);
  const reason = freshReason(object, oldObject);
  const closed = oldObject && reason ? [...closedRefs(oldObject, world), ...closedForPins.map(({ ref }) => ref)] : [];
  const glass = closed.length > 0 ? await askForGlass(closed, request, call) : undefined;
  const fieldManager = request.options?.fieldManager;
  const judge = (readable?: Readable) =>
    judgeWrite({
      object,
      oldObject,
      rollouts,
      world: readable ? { ...world, readable } : world,
      closedForPins: reveal(closedForPins, namespace, readable),
      glass,
      applier,
      user: request.userInfo.username,
      fieldManager: typeof fieldManager === 'string' ? fieldManager : undefined,
    });
  let outcome = judge();
  if (outcome.denial !== undefined && oldObject) {
    const readable = await askReadable(oldObject, world, closedForPins, request, call);
    if (readable) outcome = judge(readable);
  }
  if (outcome.denial !== undefined) return denied(outcome.reason, outcome.denial, outcome.warnings);
  const verdict: Verdict = { allowed: true, object: outcome.object, warnings: outcome.warnings };
  if (glass?.broken && reason)
    verdict.audit = await recordGlass(outcome.object ?? object, closed, reason, request, call);
  return verdict;
}

/**
 * A new object without a mark: the Gates that select it hold it in the write that creates it, before Flux sees it. Not asked
 * about more, and not in the way where we do not answer: every other Flux object of the cluster comes by here.
 */
export async function mutateCreatedFlux(request: AdmissionRequest, call: WebhookCall): Promise<Verdict> {
  const { object, oldObject } = objectsOf(request);
  if (!object || oldObject || request.subResource) return allowed();
  const world = await readGateWorld([object], namespaceOf(request), call, true);
  const outcome = judgeWrite({ object, rollouts: new Map(), world, user: request.userInfo.username });
  if (outcome.denial !== undefined) return denied(outcome.reason, outcome.denial, outcome.warnings);
  return { allowed: true, object: outcome.object, warnings: outcome.warnings };
}

/** The object is final here: other webhooks have had their turn. */
export async function validateFlux(request: AdmissionRequest, call: WebhookCall): Promise<Verdict> {
  const { object, oldObject: stored } = objectsOf(request);
  if (request.subResource) return allowed();
  if (!object) return stored ? validateDelete(stored, request, call) : allowed();
  if (stored && isOutOfScope(object, stored)) return allowed();
  const crowd = refuseCrowd(object, stored);
  if (crowd) return denied('limit', `${subjectOf(object)}: ${crowd}`);
  const namespace = namespaceOf(request);
  const [rollouts, world] = await Promise.all([
    readRollouts(object, namespace, call),
    readGateWorld(stored ? [object, stored] : [object], namespace, call),
  ]);
  const oldObject = stored && repaired(object, stored, world);
  const frozen = verifyFrozen(object, oldObject, world, isCleaner(request.userInfo.username));
  if (frozen) return denied('overwritten', frozen);
  // Behind a closed gate a pin keeps what it had, whatever its Rollout says.
  if (closedRefs(oldObject ?? object, world).length > 0) return allowed();
  const problems = verifyPins(object, rollouts, call.now);
  return problems.length > 0 ? denied('overwritten', `${problems.join('. ')}.`) : allowed();
}

async function validateDelete(oldObject: FluxObject, request: AdmissionRequest, call: WebhookCall): Promise<Verdict> {
  const { username } = request.userInfo;
  if (isCleaner(username)) return allowed();
  const [world, closedForPins] = await Promise.all([
    readGateWorld([oldObject], namespaceOf(request), call),
    readClosedForPins(undefined, oldObject, namespaceOf(request), call),
  ]);
  const deletion = { oldObject, world, closedForPins };
  if (refuseDeletion(deletion) === undefined) return allowed();
  const namespace = await readNamespace(namespaceOf(request), call);
  if (!namespace || namespace.metadata.deletionTimestamp) return allowed();
  const reason = recentReason(oldObject, username, call.now);
  const closed = [...closedRefs(oldObject, world), ...closedForPins.map(({ ref }) => ref)];
  const glass = reason && closed.length > 0 ? await askForGlass(closed, request, call) : undefined;
  if (glass?.broken && reason) {
    return { allowed: true, audit: await recordGlass(oldObject, closed, reason, request, call) };
  }
  const refused = glass?.broken === false ? glass.refused : undefined;
  const readable = await askReadable(oldObject, world, closedForPins, request, call);
  const told = {
    oldObject,
    world: readable ? { ...world, readable } : world,
    closedForPins: reveal(closedForPins, namespaceOf(request), readable),
  };
  return denied('gate_closed', refuseDeletion({ ...told, refused })!);
}

/** Asked only where there is something to tell; undefined where not. */
async function askReadable(
  oldObject: FluxObject,
  world: GateWorld,
  closedForPins: readonly JudgedGate[],
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Readable | undefined> {
  const closed = [...allClosed(requiredGates(oldObject, world), world), ...closedForPins];
  const asked = secrets(closed, namespaceOf(request));
  return asked.length > 0 ? readableGates(asked, request, call) : undefined;
}

function closedRefs(object: FluxObject, world: GateWorld): NamespacedName[] {
  return closedGates(requiredGates(object, world), world).map(({ ref }) => ref);
}
