/**
 * JSON Patch (RFC 6902) as the API server applies it: `__proto__` is a key as any other. Unchanged parts are shared,
 * not copied.
 */

export interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

export function patched<T>(document: T, operations: readonly Operation[]): T {
  return operations.reduce<any>((current, operation) => {
    const keys = operation.path.split('/').slice(1);
    const [key, ...rest] = keys.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    return key === undefined ? operation.value : changed(current, key, rest, operation);
  }, document);
}

/** A copy of the map or list in which the operation is done at this key. */
function changed(parent: any, key: string, [next, ...rest]: string[], operation: Operation): unknown {
  const { op, path, value } = operation;
  const copy: any = Array.isArray(parent) ? [...parent] : Object.fromEntries(Object.entries(parent));
  if ((next !== undefined || op !== 'add') && !Object.hasOwn(parent, key)) missing(path);
  if (next !== undefined) set(copy, key, changed(parent[key], next, rest, operation));
  else if (Array.isArray(copy)) {
    const at = key === '-' ? copy.length : Number(key);
    copy.splice(at, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [value]));
  } else if (op === 'remove') delete copy[key];
  else set(copy, key, value);
  return copy;
}

function set(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function missing(path: string): never {
  throw new Error(`the patch is about ${path}, which does not exist`);
}
