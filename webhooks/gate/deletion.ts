/** DELETE of a closed Gate that holds something: without it the held objects would wait for a gate that nobody can open. */
import type { AdmissionRequest } from '../../api/admission.ts';
import { BYPASS_REASON } from '../../api/annotations.ts';
import { FLUX_BINDINGS, NAMESPACES, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../../api/types.ts';
import { evaluateGate } from '../../core/gate/evaluate.ts';
import { requirersOf, requirerText } from '../../core/gate/requirers.ts';
import { openCommand } from '../../core/hold/messages.ts';
import { isSystemDeleter } from '../../core/kube/systemDeleters.ts';
import { passOrDenyDelete } from '../closedGates.ts';
import { type AdmissionDecision, allowed } from '../response.ts';

/** Held objects that a denial names. */
const NAMED = 3;

export async function validateGateDelete(request: AdmissionRequest, call: WebhookCall): Promise<AdmissionDecision> {
  const gate = (request.oldObject ?? undefined) as Gate | undefined;
  if (!gate || request.subResource || isSystemDeleter(request.userInfo.username)) return allowed();
  const { opened, message } = evaluateGate(gate, call.now);
  if (opened) return allowed();
  const ref = { namespace: gate.metadata.namespace ?? request.namespace ?? '', name: gate.metadata.name ?? '' };
  const held = await readRequirers({ ...gate, metadata: { ...gate.metadata, ...ref } }, call);
  if (held.length === 0) return allowed();
  const more = held.length > NAMED ? ` and ${held.length - NAMED} more` : '';
  const text =
    `Gate '${ref.namespace}/${ref.name}' is closed (${message}) and holds ${held.slice(0, NAMED).join(', ')}${more}; ` +
    `without the Gate they would stay closed. ${openFirst(gate, ref)} ` +
    `Whoever has the verb bypass on it may delete it within five minutes of giving a reason in ${BYPASS_REASON} on it.`;
  return passOrDenyDelete(gate, [ref], () => ({ reason: 'gate_closed', text }), request, call);
}

function openFirst({ spec }: Gate, ref: NamespacedName): string {
  // Approvals let versions through, and open nothing else.
  if (spec.approvals) return 'It is opened by no request: let nothing require it any more.';
  return `Open it first: ${openCommand(ref)}.`;
}

/** Live, of all namespaces: a delete is rare, and what it would lock is not to be guessed from a cache. */
async function readRequirers(gate: Gate, { cluster }: WebhookCall): Promise<string[]> {
  const [bindings, rollouts, namespaces] = await Promise.all([
    cluster.list<FluxBinding>(FLUX_BINDINGS),
    cluster.list<Rollout>(ROLLOUTS),
    cluster.listMetadata(NAMESPACES),
  ]);
  const labels = namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}] as const);
  return requirersOf(gate, { bindings, rollouts, namespaces: new Map(labels) }).map(requirerText);
}
