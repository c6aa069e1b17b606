/** Admission of Gates: who asked for what, and no Gate that nobody can evaluate or that others still wait for. */
import type { AdmissionRequest } from '../../api/admission.ts';
import { ACCEPTED_REQUEST, APPROVALS, BYPASSED_BY, REASON, SCHEDULED_BY, USED_CALLS } from '../../api/annotations.ts';
import { KINDS } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Gate } from '../../api/types.ts';
import { notedSchedule } from '../../core/approval/scheduledBy.ts';
import { type Acceptance, acceptRequests } from '../../core/gate/accept.ts';
import { freshReason, recordReason } from '../../core/gate/bypass.ts';
import { evaluateGate } from '../../core/gate/evaluate.ts';
import { gateProblems, gateWarnings } from '../../core/gate/problems.ts';
import { BEYOND_FORBIDDEN, reachesBeyond, selectsLabels } from '../../core/gate/selects.ts';
import { annotate, annotateAll, label } from '../../core/kube/annotate.ts';
import { newProblems, problemText } from '../../core/kube/fieldProblem.ts';
import { sameJson } from '../../core/kube/json.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { keptCalls } from '../../core/receiver/usedCalls.ts';
import { getPast } from '../bypass.ts';
import { type AdmissionDecision, allowed, denied } from '../response.ts';
import { openForWarnings, refuseOpening, writeGateApprovals } from './approvals.ts';
import { validateGateDelete } from './deletion.ts';

/** On gates, for the whole cluster. */
const SELECT_NAMESPACES = 'select-namespaces';

/** Keeps the records of accepted requests, approvals and webhook calls, and the labels; all from oldObject, never from the writer's text. */
export async function mutateGate(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const { now } = call;
  const { gate, old } = gatesOf(request);
  if (!gate || request.subResource) return allowed();
  const mine = gate.metadata.annotations ?? {};
  const before = old?.metadata.annotations ?? {};
  const counts = await reasonCounts(gate, old, request, call);
  const acceptance = acceptRequests(gate, old, request.userInfo.username, now);
  const written = await writeGateApprovals(recorded(gate, acceptance), old, acceptance, request, call);
  const denial = refuseOpening(gate, old, acceptance, request, call) ?? written.denial;
  if (denial !== undefined) return denied('invalid', `Gate '${refKey(identityOf(gate))}': ${denial}`);
  const noted = annotateAll(gate, {
    ...written.annotations,
    [ACCEPTED_REQUEST]: acceptance.record,
    [BYPASSED_BY]: recordReason(gate, old, request.userInfo.username, now, counts).metadata.annotations?.[BYPASSED_BY],
    [SCHEDULED_BY]: notedSchedule(gate, old, request.userInfo.username, now),
    [REASON]: undefined,
    [USED_CALLS]: keptCalls(callsOf(gate, acceptance), before[USED_CALLS], now),
    // The record of a RolloutGate: on a Gate it is nobody's.
    [APPROVALS]: before[APPROVALS] === undefined ? undefined : mine[APPROVALS],
  });
  return { allowed: true, object: label(noted, selectsLabels(gate)), warnings: written.warnings };
}

/** A signed call comes with a request, also where the same second has one already: other writes have no calls to note. */
function callsOf({ metadata }: Gate, { accepted, ignored }: Acceptance): string | undefined {
  return accepted.length + ignored.length > 0 ? metadata.annotations?.[USED_CALLS] : undefined;
}

/** As it will be stored, for what asks which of its requests counts. */
function recorded(gate: Gate, { record }: Acceptance): Gate {
  return annotate(gate, ACCEPTED_REQUEST, record);
}

/** It is for the deletion of a closed Gate, by somebody who may bypass it. */
async function reasonCounts(
  gate: Gate,
  old: Gate | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<boolean> {
  const reason = freshReason(gate, old);
  if (!old || reason === undefined || evaluateGate(old, call.now).opened) return false;
  const bypass = await getPast([identityOf(old)], reason, request, call);
  return bypass?.granted ?? false;
}

export async function validateGate(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  if (request.operation === 'DELETE') return validateGateDelete(request, call);
  const { gate, old } = gatesOf(request);
  if (!gate || request.subResource) return allowed();
  const problems = newProblems(gateProblems(gate).map(problemText), old && gateProblems(old).map(problemText));
  if (problems.length > 0) return denied('invalid', `${problems.join('; ')}.`);
  const reach = await refuseReach(gate, old, request, call);
  if (reach) return denied('not_permitted', reach);
  return allowed([
    ...gateWarnings(gate, old, request.userInfo.username, call.now),
    ...(await openForWarnings(gate, old, call)),
  ]);
}

function gatesOf({ object, oldObject }: AdmissionRequest): { gate?: Gate; old?: Gate } {
  return { gate: (object ?? undefined) as Gate | undefined, old: (oldObject ?? undefined) as Gate | undefined };
}

/**
 * A Gate that selects beyond its own namespace holds what belongs to others: that takes a right given for the whole cluster.
 * Asked whenever such a selection is made or changed: what was there before stays.
 */
async function refuseReach(
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
    `spec.selects.namespaceSelector: ${userInfo.username} may not hold objects of other namespaces: it takes the verb ` +
    `${SELECT_NAMESPACES} on gates for the whole cluster (ClusterRole gate-selector, by a ClusterRoleBinding). ` +
    'Without namespaceSelector a Gate selects in its own namespace.'
  );
}
