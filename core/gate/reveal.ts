/** Who closed a Gate of another namespace, and why, is for those who may read that Gate. */
import type { NamespacedName } from '../../api/kubernetes.ts';
import { refKey } from '../kube/names.ts';
import type { JudgedGate } from './judge.ts';

/** Keys of the Gates that the reader of a sentence may read. */
export type Readable = ReadonlySet<string>;

/** The gates as a reader in `namespace` may be told of them. */
export function reveal(gates: JudgedGate[], namespace: string, readable: Readable = new Set()): JudgedGate[] {
  return gates.map((gate) => {
    if (!isSecret(gate, namespace) || readable.has(refKey(gate.ref))) return gate;
    const { closedBy: _, ...rest } = gate;
    return rest;
  });
}

/** Those of which it has to be asked. */
export function secrets(gates: readonly JudgedGate[], namespace: string): NamespacedName[] {
  return gates.filter((gate) => isSecret(gate, namespace)).map(({ ref }) => ref);
}

function isSecret({ ref, closedBy }: JudgedGate, namespace: string): boolean {
  return closedBy !== undefined && ref.namespace !== namespace;
}
