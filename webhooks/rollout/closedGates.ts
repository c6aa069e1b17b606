/** Writes of a Rollout that would get around a closed Gate: denied, unless the glass is broken. */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../../api/types.ts';
import { freshReason, recentReason } from '../../core/gate/bypass.ts';
import { type JudgedGate, judgeGates } from '../../core/gate/judge.ts';
import { TOO_MANY } from '../../core/gate/refs.ts';
import { reveal, secrets } from '../../core/gate/reveal.ts';
import { closedGatesText, glassText } from '../../core/hold/messages.ts';
import { boundLabel } from '../../core/kube/names.ts';
import { gainsOwner } from '../../core/kube/ownerReferences.ts';
import { isCleaner } from '../../core/kube/systemDeleters.ts';
import { LIMITS } from '../../core/limits.ts';
import { addsDeployment, droppedGates, gatesToPass } from '../../core/rollout/requiredGates.ts';
import { askForGlass, recordGlass } from '../bypass.ts';
import { readableGates } from '../readable.ts';
import { denied, type Verdict } from '../response.ts';

/** undefined: no Gate is in the way. */
export async function denyDroppedGates(
  rollout: Rollout,
  before: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Verdict | undefined> {
  const closed = await readClosed(droppedGates(rollout, before), call);
  if (closed.length === 0) return undefined;
  const what = `Rollout '${rollout.metadata.name}' cannot stop requiring a closed Gate`;
  return denyOrBreak(what, closed, rollout, freshReason(rollout, before), request, call);
}

/** With an owner that goes, or was never there, the garbage collector deletes the Rollout. undefined: nothing is in the way. */
export async function denyNewOwner(
  rollout: Rollout,
  before: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Verdict | undefined> {
  if (!gainsOwner(rollout, before)) return undefined;
  const closed = await readClosedOfAll(before, call);
  if (closed.length === 0) return undefined;
  const what = `Rollout '${rollout.metadata.name}' cannot get an owner while a Gate it requires is closed`;
  return denyOrBreak(what, closed, rollout, freshReason(rollout, before), request, call);
}

/** Deleting and making it again would be a way around its Gates. undefined: nothing is in the way. */
export async function denyDelete(
  rollout: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Verdict | undefined> {
  if (isCleaner(request.userInfo.username)) return undefined;
  const { namespace = '', name = '' } = rollout.metadata;
  const closed = await readClosedOfAll(rollout, call);
  if (closed.length === 0 || (await isGoing(namespace, call))) return undefined;
  const what = `Rollout '${name}' cannot be deleted while a Gate it requires is closed`;
  return denyOrBreak(what, closed, rollout, recentReason(rollout, request.userInfo.username, call.now), request, call);
}

/** A deployment that somebody writes into the status goes where the Rollout's own would. undefined: nothing is in the way. */
export async function denyDeployment(
  rollout: Rollout,
  before: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Verdict | undefined> {
  if (!addsDeployment(rollout, before)) return undefined;
  const closed = await readClosedOfAll(before, call);
  if (closed.length === 0) return undefined;
  const what = `Rollout '${rollout.metadata.name}' cannot get a new deployment in its status while a Gate it requires is closed`;
  const reason = recentReason(before, request.userInfo.username, call.now);
  return denyOrBreak(what, closed, before, reason, request, call);
}

async function denyOrBreak(
  what: string,
  closed: JudgedGate[],
  rollout: Rollout,
  reason: string | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<Verdict> {
  const refs = closed.map(({ ref }) => ref);
  const glass = reason ? await askForGlass(refs, request, call) : undefined;
  if (reason && glass?.broken) return { allowed: true, audit: await recordGlass(rollout, refs, reason, request, call) };
  const refused = glass?.broken === false ? glass.refused : undefined;
  const namespace = rollout.metadata.namespace ?? '';
  const readable = await readableGates(secrets(closed, namespace), request, call);
  return denied('gate_closed', `${what}: ${closedGatesText(reveal(closed, namespace, readable))}${glassText(refused)}`);
}

/** Its own Gates and those of the objects bound to it. */
async function readClosedOfAll(rollout: Rollout, call: WebhookCall): Promise<JudgedGate[]> {
  const { namespace = '', name = '' } = rollout.metadata;
  const bindings = await call.cluster.list<FluxBinding>({
    apiVersion: 'kuberik.com/v1alpha1',
    resource: 'fluxbindings',
    namespace,
    labelSelector: boundLabel(name),
  });
  return readClosed(gatesToPass(rollout, bindings), call);
}

/** Live: a cache may not know yet that a Gate has closed. More than the limit are closed and not read. */
export async function readClosed(
  refs: readonly NamespacedName[],
  { cluster, now }: WebhookCall,
): Promise<JudgedGate[]> {
  if (refs.length > LIMITS.requiredGates) return judgeGates([TOO_MANY], () => undefined, now).closed;
  const apiVersion = 'gating.toolkit.fluxcd.io/v1alpha1';
  const gates = await Promise.all(refs.map((ref) => cluster.get<Gate>({ apiVersion, resource: 'gates', ...ref })));
  const found = new Map(
    gates.flatMap((gate) => (gate ? [[`${gate.metadata.namespace}/${gate.metadata.name}`, gate] as const] : [])),
  );
  return judgeGates(refs, ({ namespace, name }) => found.get(`${namespace}/${name}`), now).closed;
}

async function isGoing(name: string, { cluster }: WebhookCall): Promise<boolean> {
  const namespace = await cluster.get<KubeObject>({ apiVersion: 'v1', resource: 'namespaces', name });
  return !namespace || namespace.metadata.deletionTimestamp !== undefined;
}
