/** managedFields as one tree: who owns each field, whatever the number of entries. */
import type { ManagedFieldsEntry } from '../../api/kubernetes.ts';

interface Operations {
  byApply: boolean;
  byOther: boolean;
}

/** Of one field. */
export interface Owners extends Operations {
  /** Those that own a map above it as one: their entry lists that map and nothing inside it. */
  whole: Operations;
  node: Node | undefined;
}

interface Node extends Operations {
  /** Listed with nothing inside. */
  whole: Operations;
  children: Map<string, Node>;
}

const NOBODY: Operations = { byApply: false, byOther: false };
const NO_OWNERS: Owners = { ...NOBODY, whole: NOBODY, node: undefined };

/** Of the root, which nobody owns. */
export function ownersOf(entries: readonly ManagedFieldsEntry[]): Owners {
  const root = newNode();
  for (const { operation, fieldsV1 } of entries) add(root, fieldsV1, operation === 'Apply' ? 'byApply' : 'byOther');
  return { ...NO_OWNERS, node: root };
}

export function ownersBelow({ node, whole: above }: Owners, key: string): Owners {
  const child = node?.children.get(`f:${key}`);
  const whole: Operations = node
    ? { byApply: above.byApply || node.whole.byApply, byOther: above.byOther || node.whole.byOther }
    : above;
  return { byApply: child?.byApply ?? false, byOther: child?.byOther ?? false, whole, node: child };
}

/** Not recursive: JSON may be deeper than the stack. */
function add(root: Node, fieldsV1: unknown, operation: keyof Operations): void {
  const todo: [Node, unknown][] = [[root, fieldsV1]];
  while (todo.length > 0) {
    const [node, fields] = todo.pop()!;
    if (typeof fields !== 'object' || fields === null) continue;
    const entries = Object.entries(fields);
    if (entries.length === 0 && node !== root) node.whole[operation] = true;
    for (const [key, below] of entries) {
      if (!key.startsWith('f:')) continue;
      const child = node.children.get(key) ?? newNode();
      node.children.set(key, child);
      child[operation] = true;
      todo.push([child, below]);
    }
  }
}

function newNode(): Node {
  return { ...NOBODY, whole: { ...NOBODY }, children: new Map() };
}
