/**
 * DELETE of a Gate. A closed one that holds something stays: what names it would wait for a Gate that nobody can open, and what it selects would
 * be free. The deletion of one with approvals is told.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import { BYPASS_REASON, GATE_APPROVALS } from '../../api/annotations.ts';
import { FLUX_BINDINGS, GATES, NAMESPACES, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Requiring, WebhookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../../api/types.ts';
import { evaluateGate } from '../../core/gate/evaluate.ts';
import { holdersOf, requirersOf, requirerText } from '../../core/gate/requirers.ts';
import { openCommand } from '../../core/hold/messages.ts';
import { isSystemDeleter } from '../../core/kube/systemDeleters.ts';
import { standInsOf } from '../../core/notification/standIns.ts';
import { recordDeletion } from '../approvals.ts';
import { passOrDenyDelete } from '../closedGates.ts';
import { type AdmissionDecision, allowed, namespaceOf } from '../response.ts';

/** Held objects that a denial names. */
const NAMED = 3;

export async function validateGateDelete(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const stored = (request.oldObject ?? undefined) as Gate | undefined;
  if (!stored || request.subResource || isSystemDeleter(request.userInfo.username)) return allowed();
  const ref = { namespace: namespaceOf(request), name: stored.metadata.name ?? '' };
  const gate = { ...stored, metadata: { ...stored.metadata, ...ref } };
  const decision = await judgeDeletion(gate, ref, request, call);
  if (decision.allowed) {
    const standIns = standInsOf(gate.status?.heldObjects ?? [], ref.namespace);
    await recordDeletion(gate, { ref: { ...GATES, ...ref }, record: GATE_APPROVALS }, gate, standIns, request, call);
  }
  return decision;
}

async function judgeDeletion(
  gate: Gate,
  ref: NamespacedName,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<AdmissionDecision> {
  const { opened, message } = evaluateGate(gate, call.now);
  if (opened) return allowed();
  const requiring = await readRequiring(call);
  const held = holdersOf(gate, requiring).map(requirerText);
  if (held.length === 0) return allowed(strangersWarning(gate, requiring));
  const more = held.length > NAMED ? ` and ${held.length - NAMED} more` : '';
  const text =
    `Gate '${ref.namespace}/${ref.name}' is closed (${message}) and holds ${held.slice(0, NAMED).join(', ')}${more}; ` +
    `without the Gate they would stay closed. ${openFirst(gate, ref)} ` +
    `Whoever has the verb bypass on it may delete it within five minutes of giving a reason in ${BYPASS_REASON} on it.`;
  return passOrDenyDelete(gate, [ref], () => ({ reason: 'gate_closed', text }), request, call);
}

function strangersWarning(gate: Gate, requiring: Requiring): string[] {
  const count = requirersOf(gate, requiring).length;
  return count === 0
    ? []
    : [`of other namespaces ${count} still name this Gate: closed until there is one of this name`];
}

function openFirst({ spec }: Gate, ref: NamespacedName): string {
  // Approvals let versions through, and open nothing else.
  if (spec.approvals) return 'It is opened by no request: let nothing require it any more.';
  return `Open it first: ${openCommand(ref)}.`;
}

/** Live, of all namespaces: a delete is rare, and what it would lock is not to be guessed from a cache. */
async function readRequiring({ cluster }: WebhookCall): Promise<Requiring> {
  const [bindings, rollouts, namespaces] = await Promise.all([
    cluster.list<FluxBinding>(FLUX_BINDINGS),
    cluster.list<Rollout>(ROLLOUTS),
    cluster.listMetadata(NAMESPACES),
  ]);
  const labels = namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}] as const);
  return { bindings, rollouts, namespaces: new Map(labels) };
}
