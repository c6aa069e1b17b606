/** What the Gates that a Flux object requires say, as its FluxBinding has them. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBinding, FluxBindingStatus, Gate } from '../../api/types.ts';
import { fullMessage, type JudgedGate, judgeGates, reveal } from '../gate/judge.ts';
import { gatesOf } from '../gate/refs.ts';
import { refKey } from '../kube/names.ts';
import { formatTime } from '../kube/time.ts';

export type GateEntry = NonNullable<FluxBindingStatus['gates']>[number];

/** Of the Gates in the binding's spec. `gates`: those that exist, by `namespace/name`. */
export function judgedGates({ spec }: FluxBinding, gates: ReadonlyMap<string, Gate>, now: EpochMs): JudgedGate[] {
  return judgeGates(gatesOf(spec), (ref) => gates.get(refKey(ref)), now).all;
}

/** As a reader in the binding's namespace may see them. */
export function gateEntries(judged: JudgedGate[], { metadata }: FluxBinding): GateEntry[] {
  return reveal(judged, metadata.namespace ?? '').map((gate) => ({
    namespace: gate.ref.namespace,
    name: gate.ref.name,
    opened: gate.open,
    message: fullMessage(gate),
    ...(gate.until !== undefined && { until: formatTime(gate.until) }),
    ...(gate.closing && { closing: gate.closing }),
  }));
}
