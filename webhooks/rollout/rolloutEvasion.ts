/**
 * Writes of a Rollout that would evade a closed Gate: they are allowed as a bypass, or denied.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import type { ClosedGates } from '../../core/gate/closedGates.ts';
import { sameJson } from '../../core/kube/json.ts';
import { gainsOwner } from '../../core/kube/ownerReferences.ts';
import { isSystemDeleter } from '../../core/kube/users.ts';
import { isSetByGit } from '../../core/managedField/deployment.ts';
import { subjectOf } from '../../core/objectGates/gateTexts.ts';
import { currentGrant } from '../../core/suspension/bypassGrant.ts';
import { bypassOrDeny } from '../bypass.ts';
import { readClosedGatesBeforeRemoval, readClosedGatesOfRollouts, readDroppedClosedGates } from '../closedGateReads.ts';
import { type AdmissionDecision, allowed } from '../response.ts';

/**
 * Decides three writes while a Gate is closed:
 * - one that stops requiring the Gate;
 * - one that adds an owner reference, because the garbage collector could then delete the Rollout;
 * - one that adds spec.writeBack or changes its ImagePolicy, because Git could then set any version.
 *
 * The user has to be allowed to bypass all Gates that the write evades.
 */
export async function decideEvasion(
  rollout: Rollout,
  old: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  const release = gainsOwner(rollout, old) ? 'get an owner reference' : changeInGit(rollout, old);
  if (release === undefined) {
    const dropped = await readDroppedClosedGates(rollout, old, call);
    return decideBehind(dropped, rollout, 'stop requiring a closed Gate', request, call);
  }
  // All Gates that the Rollout required, including those that the write drops.
  const closed = await readClosedGatesBeforeRemoval(old, call);
  return decideBehind(closed, rollout, `${release} while a Gate that it requires is closed`, request, call);
}

function changeInGit(rollout: Rollout, old: Rollout): string | undefined {
  if (!isSetByGit(rollout)) return undefined;
  if (!isSetByGit(old)) return 'have spec.writeBack added';
  const isSamePolicy = sameJson(rollout.spec?.releasesImagePolicy, old.spec?.releasesImagePolicy);
  return isSamePolicy ? undefined : 'have spec.releasesImagePolicy changed with spec.writeBack set';
}

/** Decides a deletion: deleting the Rollout and creating it again would evade its Gates. */
export async function decideDeletion(
  rollout: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  if (isSystemDeleter(request.userInfo.username)) return allowed();
  const closed = await readClosedGatesBeforeRemoval(rollout, call);
  return decideBehind(closed, rollout, 'be deleted while a Gate that it requires is closed', request, call);
}

/**
 * Decides two writes of the status:
 * - one that adds a deployment, which would be rolled out like the Rollout's own;
 * - one that lets the newest deployment bypass its Gates again after it has failed.
 */
export async function decideAddedDeployment(
  rollout: Rollout,
  old: Rollout,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  const adds = addsDeployment(rollout, old);
  if (!adds && !revivesBypass(rollout, old, call.now)) return allowed();
  const closed = await readClosedGatesOfRollouts([old], call);
  const what = adds
    ? 'have a deployment added to status.history while a Gate that it requires is closed'
    : 'have its failed deployment bypass a closed Gate again';
  return decideBehind(closed, old, what, request, call);
}

/** Whether a write of the status adds a deployment: another id at the head, since stored deployments can't change. */
function addsDeployment({ status }: Rollout, { status: old }: Rollout): boolean {
  const [head] = status?.history ?? [];
  const [known] = old?.history ?? [];
  return head !== undefined && (!known || head.id !== known.id);
}

/** Whether a write of the status reactivates the bypass of the newest deployment. */
function revivesBypass(rollout: Rollout, old: Rollout, now: EpochMs): boolean {
  const grant = currentGrant(old) ? undefined : currentGrant(rollout);
  return grant !== undefined && now < grant.end;
}

async function decideBehind(
  closed: ClosedGates | undefined,
  rollout: Rollout,
  what: string,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  if (!closed) return allowed();
  const text = `${subjectOf(rollout)} cannot ${what}`;
  return bypassOrDeny(rollout, closed, { reason: 'gate_closed', text, closed }, request, call);
}
