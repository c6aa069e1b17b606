/** Writes of a Rollout that would get around a closed Gate: denied, unless the writer may bypass it. undefined: nothing is in the way. */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { bypassText, type Refusal } from '../../core/admission/messages.ts';
import { type Bypass, freshReason, recentReason } from '../../core/gate/bypass.ts';
import type { GateResult } from '../../core/gate/evaluateGates.ts';
import { gainsOwner } from '../../core/kube/ownerReferences.ts';
import { isSystemDeleter } from '../../core/kube/systemDeleters.ts';
import { writeBackName } from '../../core/policy/derivedPolicy.ts';
import { addsDeployment } from '../../core/rollout/evaluation/gatesToPass.ts';
import {
  passOrDeny,
  passOrDenyDelete,
  readClosedOfAll,
  readClosedThatAreDropped,
  readClosedToLeave,
} from '../closedGates.ts';
import type { AdmissionDecision } from '../response.ts';

export async function denyDroppedGates(
  rollout: Rollout,
  before: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision | undefined> {
  const closed = await readClosedThatAreDropped(rollout, before, call);
  if (closed.length === 0) return undefined;
  const refusal = refusalOf(rollout, 'stop requiring a closed Gate', closed);
  return passOrDeny(rollout, refs(closed), freshReason(rollout, before), refusal, request, call);
}

/**
 * With an owner reference to what is deleted, or never existed, the garbage collector deletes the Rollout. With spec.writeBack its objects take
 * any version.
 */
export async function denyLettingGo(
  rollout: Rollout,
  before: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision | undefined> {
  const leavesToGit = writeBackName(rollout) !== undefined && writeBackName(before) === undefined;
  const what = gainsOwner(rollout, before) ? 'get an owner reference' : leavesToGit ? 'get spec.writeBack' : undefined;
  if (what === undefined) return undefined;
  const closed = await readClosedToLeave(before, call);
  if (closed.length === 0) return undefined;
  const refusal = refusalOf(rollout, `${what} while a Gate it requires is closed`, closed);
  return passOrDeny(rollout, refs(closed), freshReason(rollout, before), refusal, request, call);
}

/** Deleting and re-creating it would be a way around its Gates. */
export async function denyDelete(
  rollout: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision | undefined> {
  if (isSystemDeleter(request.userInfo.username)) return undefined;
  const closed = await readClosedToLeave(rollout, call);
  if (closed.length === 0) return undefined;
  const refusal = refusalOf(rollout, 'be deleted while a Gate it requires is closed', closed, 'delete');
  return passOrDenyDelete(rollout, refs(closed), refusal, request, call);
}

/** A deployment that somebody writes into the status goes where the Rollout's own would. */
export async function denyDeployment(
  rollout: Rollout,
  before: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision | undefined> {
  if (!addsDeployment(rollout, before)) return undefined;
  const closed = await readClosedOfAll(before, call);
  if (closed.length === 0) return undefined;
  const what = 'get a new deployment in its status while a Gate it requires is closed';
  const refusal = refusalOf(rollout, what, closed, 'status');
  const reason = recentReason(before, request.userInfo.username, call.now);
  return passOrDeny(before, refs(closed), reason, refusal, request, call);
}

function refusalOf(
  { metadata }: Rollout,
  what: string,
  closed: GateResult[],
  operation: Parameters<typeof bypassText>[1] = 'write',
): (bypass?: Bypass) => Refusal {
  const text = `Rollout '${metadata.name}' cannot ${what}: `;
  return (bypass) => ({ reason: 'gate_closed', text, closed, hint: bypassText(bypass, operation) });
}

function refs(closed: readonly GateResult[]) {
  return closed.map(({ ref }) => ref);
}
