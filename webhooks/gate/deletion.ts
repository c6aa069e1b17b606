/**
 * DELETE of a Gate. A closed one that holds something stays: what names it would wait for a Gate that nobody can open, and what it selects would
 * be free. The deletion of one with approvals is told.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import { BYPASS_REASON, GATE_APPROVALS } from '../../api/annotations.ts';
import { FLUX_BINDINGS, GATES, KINDS, NAMESPACES, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../../api/types.ts';
import { evaluateGate } from '../../core/gate/evaluate.ts';
import { holdersOf, type Requirer, requirersOf, requirerText } from '../../core/gate/requirers.ts';
import { reachesBeyond } from '../../core/gate/selects.ts';
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
    const about = async (regarding: Gate) => {
      return { regarding, standIns: standInsOf(regarding.status?.heldObjects ?? [], ref.namespace) };
    };
    const where = { ref: { ...GATES, ...ref }, record: GATE_APPROVALS };
    await recordDeletion(stored.metadata.uid, where, about, request, call);
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
  const { holders, strangers } = await readRequirers(gate, ref.namespace, call);
  const held = holders.map(requirerText).sort();
  if (held.length === 0) return allowed(strangersWarning(strangers));
  const more = held.length > NAMED ? ` and ${held.length - NAMED} more` : '';
  const text =
    `Gate '${ref.namespace}/${ref.name}' is closed (${message}) and holds ${held.slice(0, NAMED).join(', ')}${more}; ` +
    `without the Gate they would stay closed. ${openFirst(gate, ref)} ` +
    `Whoever has the verb bypass on it may delete it within five minutes of giving a reason in ${BYPASS_REASON} on it.`;
  return passOrDenyDelete(gate, [ref], () => ({ reason: 'gate_closed', text }), request, call);
}

function strangersWarning(count: number): string[] {
  return count === 0
    ? []
    : [`of other namespaces ${count} still name this Gate: closed until there is one of this name`];
}

function openFirst({ spec }: Gate, ref: NamespacedName): string {
  // Approvals let versions through, and open nothing else.
  if (spec.approvals) return 'It is opened by no request: let nothing require it any more.';
  return `Open it first: ${openCommand(ref)}.`;
}

/**
 * Live: a delete is rare, and what it would lock is not to be guessed from a cache. Rollouts of other namespaces are read as far as the Gate
 * may select them, by metadata: large ones must not keep anybody from deleting a Gate. Those that only name it are counted in its status.
 */
async function readRequirers(
  gate: Gate,
  namespace: string,
  { cluster }: WebhookCall,
): Promise<{ holders: Requirer[]; strangers: number }> {
  const beyond = reachesBeyond(gate.spec.selects);
  const listed = beyond ? await cluster.listMetadata(NAMESPACES) : [];
  const namespaces = new Map(listed.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}] as const));
  const isOther = (object: { namespace?: string | undefined }) => object.namespace !== namespace;
  const holders: Requirer[] = [];
  let strangers = (gate.status?.heldObjects ?? []).filter(
    (each) => each.kind === KINDS.Rollout.kind && isOther(each),
  ).length;
  const bindings = async () => {
    for await (const page of cluster.pages<FluxBinding>(FLUX_BINDINGS)) {
      const requiring = { bindings: page, rollouts: [], namespaces };
      const found = holdersOf(gate, requiring);
      holders.push(...found);
      strangers += requirersOf(gate, requiring).length - found.length;
    }
  };
  const rollouts = async (which: { namespace: string } | { metadataOnly: true }) => {
    for await (const page of cluster.pages<Rollout>({ ...ROLLOUTS, ...which })) {
      const found = 'namespace' in which ? page : page.filter(({ metadata }) => isOther(metadata));
      holders.push(...holdersOf(gate, { bindings: [], rollouts: found, namespaces }));
    }
  };
  await Promise.all([bindings(), rollouts({ namespace }), ...(beyond ? [rollouts({ metadataOnly: true })] : [])]);
  return { holders, strangers };
}
