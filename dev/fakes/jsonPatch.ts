/** RFC 6902 as the API server applies it: a key is a key, `__proto__` too. */

export interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

export function patched<T>(document: T, operations: readonly Operation[]): T {
  const root = { document: structuredClone(document) };
  for (const { op, path, value } of operations) {
    const keys = [
      'document',
      ...path
        .split('/')
        .slice(1)
        .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')),
    ];
    const last = keys.pop()!;
    const parent = keys.reduce<any>((at, key) => (Object.hasOwn(at, key) ? at[key] : missing(path)), root);
    if (op !== 'add' && !Object.hasOwn(parent, last)) missing(path);
    if (Array.isArray(parent)) {
      const at = last === '-' ? parent.length : Number(last);
      parent.splice(at, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [structuredClone(value)]));
    } else if (op === 'remove') {
      delete parent[last];
    } else {
      const property = { value: structuredClone(value), writable: true, enumerable: true, configurable: true };
      Object.defineProperty(parent, last, property);
    }
  }
  return root.document;
}

function missing(path: string): never {
  throw new Error(`the patch is about ${path}, which does not exist`);
}
