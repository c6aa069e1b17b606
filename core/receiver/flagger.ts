/**
 * Flagger's webhooks confirm-rollout, confirm-promotion, confirm-traffic-increase and rollback, answered from a Gate.
 * An open Gate confirms all of them, as the gates of Flagger's load tester do: so name a separate Gate for `rollback`.
 */
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { evaluateGates } from '../gate/evaluateGates.ts';
import { parseGateRefs } from '../gate/gateRefs.ts';
import { byRefKey, refKey } from '../kube/names.ts';

/**
 * The Gate that a call is about: the one in `metadata.gate` (`ns/name`, or a name in the canary's namespace), or else
 * the one with the canary's own name.
 */
export function flaggerGate(body: unknown): NamespacedName | undefined {
  const { name, namespace, metadata } = (body ?? {}) as {
    name?: unknown;
    namespace?: unknown;
    metadata?: { gate?: unknown };
  };
  if (typeof name !== 'string' || typeof namespace !== 'string') return undefined;
  const named = metadata?.gate ?? name;
  if (typeof named !== 'string') return undefined;
  const { refs, problems } = parseGateRefs(named, namespace);
  return problems.length === 0 && refs.length === 1 ? refs[0] : undefined;
}

export function flaggerAnswer(
  ref: NamespacedName,
  gate: Gate | undefined,
  now: EpochMs,
): { opened: boolean; message: string } {
  const { isOpen, message } = evaluateGates([ref], byRefKey(gate ? [gate] : []), now)[0]!;
  return { opened: isOpen, message: `Gate '${refKey(ref)}': ${message}.` };
}
