/**
 * Admission of Gates. Records the users of requests. Denies Gates that can't be evaluated, selections beyond the user's
 * rights, and the deletion or an owner of a Gate that still holds objects.
 */

import type { AdmissionRequest } from '../../api/admission.ts';
import { ACCEPTED_REQUEST, REASON, SCHEDULED_BY, USED_CALLS } from '../../api/annotations.ts';
import { FLUX_BINDINGS, KINDS, NAMESPACES, ROLLOUTS } from '../../api/kinds.ts';
import type { EpochMs, ObjectName } from '../../api/kubernetes.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../../api/types.ts';
import { involvedObjectsOf } from '../../core/binding/involvedObjects.ts';
import { acceptRequests } from '../../core/gate/acceptRequests.ts';
import { freshReason, recordReason } from '../../core/gate/bypassReason.ts';
import { type ClosedGates, closedAmong } from '../../core/gate/closedGates.ts';
import { evaluateGates } from '../../core/gate/evaluateGates.ts';
import { gateProblems } from '../../core/gate/gateProblems.ts';
import { BEYOND_FORBIDDEN, reachesBeyond, requirerText, selectsLabels } from '../../core/gate/gateSelection.ts';
import { gateWarnings } from '../../core/gate/gateWarnings.ts';
import { requirersBlockingDeletion } from '../../core/gate/requirers.ts';
import { annotate, annotateAll, labelAll } from '../../core/kube/annotate.ts';
import { newProblems, problemText } from '../../core/kube/fieldProblem.ts';
import { sameJson } from '../../core/kube/json.ts';
import { byRefKey, identityOf, refKey } from '../../core/kube/names.ts';
import { gainsOwner } from '../../core/kube/ownerReferences.ts';
import { isSystemDeleter } from '../../core/kube/users.ts';
import { openGateCommand } from '../../core/objectGates/gateTexts.ts';
import { keptCalls } from '../../core/receiver/acceptCall.ts';
import { nextScheduleRecord } from '../../core/record/pinAndSchedule.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import { recordDeletion } from '../approvalDeletion.ts';
import { bypassOrDeny, reviewBypass } from '../bypass.ts';
import { type AdmissionDecision, allowed, denied, notValid, versionsOf } from '../response.ts';
import { openForWarnings, openingProblem, writeGateApprovals } from './gateApprovalWrites.ts';

/** The verb on gates that a selection in other namespaces requires, for the whole cluster. */
const SELECT_NAMESPACES = 'select-namespaces';

/**
 * Writes the labels, and the records of accepted requests, approvals and calls. They come from the stored records and
 * this request, never from the writer's text.
 */
export async function mutateGate(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const { now } = call;
  const { username } = request.userInfo;
  const { object: gate, old } = versionsOf<Gate>(request);
  if (!gate) return allowed();
  const isGranted = await grantsDeletionOrOwner(gate, old, request, call);
  const acceptance = acceptRequests(gate, old, username, now);
  // The Gate as it will be stored: the approvals depend on which of its requests counts.
  const recorded = annotate(gate, ACCEPTED_REQUEST, acceptance.record);
  const written = await writeGateApprovals(recorded, old, acceptance, request, call);
  const problem = openingProblem(recorded, old, acceptance, request, call) ?? written.problem;
  if (problem) return denied('invalid', { ...problem, text: `Gate '${refKey(identityOf(gate))}': ${problem.text}` });
  const [sentCalls, storedCalls] = [gate, old].map((each) => each?.metadata.annotations?.[USED_CALLS]);
  // Calls are recorded only in a write with a request, which a call always has, even if another one has the same
  // second.
  const isRequest = acceptance.accepted.length + acceptance.ignored.length > 0;
  const stored = annotateAll(recordReason(gate, old, username, now, isGranted), {
    ...written.annotations,
    [ACCEPTED_REQUEST]: acceptance.record,
    [SCHEDULED_BY]: nextScheduleRecord(gate, old, username, now),
    [REASON]: undefined,
    [USED_CALLS]: keptCalls(isRequest ? sentCalls : undefined, storedCalls, now),
  });
  return { allowed: true, object: labelAll(stored, selectsLabels(gate)), warnings: written.warnings };
}

/**
 * Whether a new reason lets its author delete the closed Gate or give it an owner: only if the author may bypass it.
 */
async function grantsDeletionOrOwner(
  gate: Gate,
  old: Gate | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<boolean> {
  const closed = old && closedGate(old, call.now);
  return (await reviewBypass(closed, freshReason(gate, old), request, call))?.granted ?? false;
}

/** The Gate, if it is closed. */
function closedGate(gate: Gate, now: EpochMs): ClosedGates | undefined {
  return closedAmong(evaluateGates([identityOf(gate)], byRefKey([gate]), now));
}

export async function validateGate(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const { object: gate, old } = versionsOf<Gate>(request);
  if (!gate) return old ? validateGateDelete(old, request, call) : allowed();
  const problems = newProblems(gateProblems(gate).map(problemText), old && gateProblems(old).map(problemText));
  if (problems.length > 0) return notValid(gate, problems);
  const reach = await reachProblem(gate, old, request, call);
  if (reach) return denied('not_permitted', reach);
  // With an owner, the garbage collector may delete the Gate, and its deletions are never denied.
  const owner = old && gainsOwner(gate, old) ? await decideDeletionOrOwner(gate, old, request, call) : allowed();
  if (!owner.allowed) return owner;
  const warnings = [
    ...(owner.warnings ?? []),
    ...gateWarnings(gate, old, request.userInfo.username, call.now),
    ...(await openForWarnings(gate, old, call)),
  ];
  return { ...owner, warnings };
}

/**
 * Why the user isn't allowed to add or change a selection beyond the Gate's own namespace. It holds objects of other
 * teams, so it requires a right for the whole cluster. A stored selection may stay.
 */
async function reachProblem(
  gate: Gate,
  old: Gate | undefined,
  { userInfo }: AdmissionRequest,
  { access, settings }: WebhookCall,
): Promise<string | undefined> {
  const { selects } = gate.spec;
  if (!reachesBeyond(selects) || sameJson(selects, old?.spec.selects)) return undefined;
  if (settings.noCrossNamespaceRefs) return BEYOND_FORBIDDEN;
  const where = {
    group: KINDS.Gate.group,
    resource: KINDS.Gate.resource,
    namespace: '',
    name: gate.metadata.name ?? '',
  };
  if (await access.may(userInfo, { verb: SELECT_NAMESPACES, ...where })) return undefined;
  return (
    `spec.selects.namespaceSelector: ${userInfo.username} needs the verb ${SELECT_NAMESPACES} on gates in the whole cluster ` +
    'to hold objects of other namespaces: bind ClusterRole gate-selector by a ClusterRoleBinding. ' +
    'Without namespaceSelector a Gate selects in its own namespace.'
  );
}

// Deletion. The deletion of a closed Gate that holds an object is denied. Objects that name it would wait for a Gate
// that no user can open, and objects that it selects would be free. The deletion of a Gate with approvals is reported.

const MAX_OBJECTS_IN_DENIAL = 3;

const APPROVALS_BEFORE_DELETION =
  'A request cannot open it, because it has spec.approvals: first remove each reference to it, and its spec.selects.';

async function validateGateDelete(
  gate: Gate,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  if (isSystemDeleter(request.userInfo.username)) return allowed();
  const { namespace } = identityOf(gate);
  const decision = await decideDeletionOrOwner(gate, gate, request, call);
  if (decision.allowed) {
    const about = async (regarding: Gate) => {
      return { regarding, involvedObjects: involvedObjectsOf(regarding.status?.requiredBy ?? [], namespace) };
    };
    await recordDeletion('Gate', gate, about, request, call);
  }
  return decision;
}

/**
 * Whether a write may delete the Gate, or give it an owner.
 * @param gate the Gate as the write stores it; for a DELETE the stored Gate
 */
async function decideDeletionOrOwner(
  gate: Gate,
  stored: Gate,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  const closed = closedGate(gate, call.now);
  const [result] = closed?.gates ?? [];
  if (!result) return allowed();
  const ref = identityOf(stored);
  const { blocking, othersNaming } = await readRequirers(stored, ref.namespace, call);
  const held = blocking.map(requirerText).sort();
  const isDeleted = request.operation === 'DELETE';
  if (held.length === 0) return allowed(othersNaming === 0 ? [] : [strandedWarning(othersNaming, isDeleted)]);
  // An approval only lets a version through, and doesn't release the object.
  const [first, commands] = result.opensByApprovalsOnly
    ? [APPROVALS_BEFORE_DELETION, []]
    : ['Open it first.', [openGateCommand(ref)]];
  const name = `Gate '${result.key}'`;
  const denial = isDeleted
    ? `${name} cannot be deleted`
    : `${name} cannot get an owner reference, because the garbage collector could then delete it`;
  const text =
    `${denial}: it is closed (${result.message}) and holds ${firstFew(held, MAX_OBJECTS_IN_DENIAL)}. ` +
    `Its deletion would release the objects that it selects. Objects that name it would stay held. ${first}`;
  return bypassOrDeny(gate, closed, { reason: 'gate_closed', text, todo: { commands } }, request, call);
}

/** The Warning about objects of other namespaces that name the Gate: they stay held. */
function strandedWarning(count: number, isDeleted: boolean): string {
  const others = `objects in other namespaces (${count})`;
  return isDeleted
    ? `${others} name this Gate: they stay held until it exists again and is open`
    : `if its owner is deleted, this Gate is too; ${others} that name it then stay held`;
}

/**
 * The objects that the Gate's deletion would lock or release (`blocking`), and by its status the number of objects in
 * other namespaces that only name the Gate (`othersNaming`). Read live, because a cache may lack an object, and a
 * deletion is rare. Other namespaces are read only if the Gate may select objects there, because any tenant may delete
 * Gates again and again. Only the metadata of their Rollouts is read, so that large ones can't keep a user from
 * deleting a Gate.
 */
async function readRequirers(
  gate: Gate,
  namespace: string,
  { cluster }: WebhookCall,
): Promise<{ blocking: ObjectName[]; othersNaming: number }> {
  const beyond = reachesBeyond(gate.spec.selects);
  const listed = beyond ? await cluster.listMetadata(NAMESPACES) : [];
  const namespaces = new Map(listed.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}] as const));
  const isElsewhere = (object: { namespace?: string | undefined }) => object.namespace !== namespace;
  const blocking: ObjectName[] = [];
  const bindings = async () => {
    for await (const page of cluster.pages<FluxBinding>({ ...FLUX_BINDINGS, ...(!beyond && { namespace }) })) {
      blocking.push(...requirersBlockingDeletion(gate, { bindings: page, rollouts: [], namespaces }));
    }
  };
  const rollouts = async (which: { namespace: string } | { metadataOnly: true }) => {
    for await (const page of cluster.pages<Rollout>({ ...ROLLOUTS, ...which })) {
      const found = 'namespace' in which ? page : page.filter(({ metadata }) => isElsewhere(metadata));
      blocking.push(...requirersBlockingDeletion(gate, { bindings: [], rollouts: found, namespaces }));
    }
  };
  await Promise.all([bindings(), rollouts({ namespace }), ...(beyond ? [rollouts({ metadataOnly: true })] : [])]);
  // If no object blocks the deletion, all others only name the Gate.
  return { blocking, othersNaming: (gate.status?.requiredBy ?? []).filter(isElsewhere).length };
}
