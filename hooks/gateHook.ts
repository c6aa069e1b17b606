/**
 * CompositeController `gates`: a Gate's status, and when to compute it again. No children.
 * DecoratorController `gate-labels`: repairs the labels by which hooks and the webhook find a Gate. The webhook sets
 * these labels in every write, but not while it is down, such as when a backup is restored.
 */
import type { Secret } from '../api/kubernetes.ts';
import type { HookCall } from '../api/ports.ts';
import type { Gate } from '../api/types.ts';
import { approvalEvents, approvalsStatus } from '../core/approval/approvalStatus.ts';
import { involvedObjectsOf } from '../core/binding/involvedObjects.ts';
import { standingApprovals, withoutDeletedRollouts } from '../core/gate/gateApprovals.ts';
import { gateEvents } from '../core/gate/gateEvents.ts';
import { BEYOND_FORBIDDEN, reachesBeyond, selectsLabels } from '../core/gate/gateSelection.ts';
import { type GateFacts, gateStatus, isSettling, requeueSeconds } from '../core/gate/gateStatus.ts';
import { evaluateGate, type GateEvaluation } from '../core/gate/gateTimeline.ts';
import { requirersOf } from '../core/gate/requirers.ts';
import { eventRecord } from '../core/kube/events.ts';
import { identityOf } from '../core/kube/names.ts';
import { idTokenPath, oidcProblem } from '../core/receiver/idToken.ts';
import { tokenBytes, webhookPath } from '../core/receiver/signedCall.ts';
import { unheldOf, unresumedOf } from '../core/suspension/unreachedObjects.ts';
import { readRequiring } from '../live/requiringReads.ts';
import { type CompositeHook, type DecoratorHook, repairedLabels } from './hook.ts';

/** The interval while the Secret can't be read: neither its creation nor a new right to read it triggers a sync. */
const RECEIVER_REQUEUE_SECONDS = 30;

export const gateHook: CompositeHook<Gate> = {
  async sync({ parent: gate }, call) {
    const ref = identityOf(gate);
    const evaluation = withForbidden(gate, evaluateGate(gate, call.now), call);
    const [known, receiver] = await Promise.all([
      readRequiring(isSettling(gate, call.now), call),
      receiverOf(gate, call),
    ]);
    const requiring = known?.of(gate);
    const requirers = requiring && requirersOf(gate, requiring);
    // An open Gate holds nothing, and a closed one resumes nothing.
    const unreached =
      requiring &&
      (evaluation.opened
        ? { unresumed: unresumedOf(gate, requiring.objects, requiring.namespaces) }
        : { unheld: unheldOf(gate, evaluation.closure, requiring.objects, requiring.namespaces) });
    const standing = standingApprovals(gate, call.now);
    const record = known ? withoutDeletedRollouts(standing, known.rolloutUids) : standing;
    const { status: approvals, until } = approvalsStatus(gate.spec.approvals, record, call.now);
    const facts = { readAt: known?.readAt, requirers, ...unreached, receiver, approvals };
    const status = gateStatus(gate, evaluation, facts, call.now);
    const given = approvalEvents(gate.status?.approvals, approvals, record, call.now);
    const involvedObjects = involvedObjectsOf(requirers ?? gate.status?.requiredBy ?? [], ref.namespace);
    for (const event of [...gateEvents(gate, status, evaluation.message, call.now), ...given]) {
      call.events.record({ ...eventRecord(event, gate, call.now), involvedObjects });
    }
    const requeue = requeueSeconds(gate, evaluation, call.now, until);
    const isUnready = receiver && 'problem' in receiver;
    return {
      status,
      children: [],
      resyncAfterSeconds: isUnready ? Math.min(requeue, RECEIVER_REQUEUE_SECONDS) : requeue,
    };
  },
};

export const gateLabelsHook: DecoratorHook<Gate> = {
  async sync({ object }) {
    return { attachments: [], ...repairedLabels(object, selectsLabels(object)) };
  },
};

/**
 * The evaluation with a report of a selection that the installation forbids. The Gate still holds its objects:
 * NO_CROSS_NAMESPACE_REFS must not end a freeze.
 */
function withForbidden(gate: Gate, evaluation: GateEvaluation, { settings }: HookCall): GateEvaluation {
  if (!settings.noCrossNamespaceRefs || !reachesBeyond(gate.spec.selects)) return evaluation;
  const stalled = [evaluation.stalled, BEYOND_FORBIDDEN].filter(Boolean).join('; ');
  return { ...evaluation, stalled };
}

/** The path at which the Gate takes calls, or why it takes none; undefined without `spec.receiver`. */
async function receiverOf(gate: Gate, { cluster, settings }: HookCall): Promise<GateFacts['receiver']> {
  const ref = identityOf(gate);
  const { oidc, secretRef } = gate.spec.receiver ?? {};
  if (oidc) return oidcProblem(gate, oidc, settings.oidcIssuers ?? []) ?? { path: idTokenPath(ref) };
  const name = secretRef?.name;
  if (!name) return undefined;
  const where = `Secret '${ref.namespace}/${name}'`;
  try {
    const secret = await cluster.get<Secret>({ apiVersion: 'v1', resource: 'secrets', namespace: ref.namespace, name });
    const data = secret?.data?.token;
    const token = tokenBytes(data);
    if (token.length > 0) return { path: webhookPath(token, ref) };
    const lacks = !secret ? 'does not exist' : data === undefined ? "has no key 'token'" : "has an empty key 'token'";
    return { reason: 'SecretInvalid', problem: `${where} ${lacks}` };
  } catch {
    // The Gate opens and closes even if its Secret can't be read, whatever the error.
    return { reason: 'SecretUnreadable', problem: `${where} cannot be read` };
  }
}
