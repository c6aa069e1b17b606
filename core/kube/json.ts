/** JSON values as tenants may send them: nothing here is recursive, since JSON may be deeper than the stack. */

/** JSON values are equal whatever the order of their keys. */
export function sameJson(one: unknown, other: unknown): boolean {
  const todo = [[one, other]];
  while (todo.length > 0) {
    const [a, b] = todo.pop()!;
    if (a === b) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const entries = Object.entries(a!);
    if (entries.length !== Object.keys(b!).length) return false;
    for (const [key, value] of entries) {
      if (!Object.hasOwn(b!, key)) return false;
      todo.push([value, (b as Record<string, unknown>)[key]]);
    }
  }
  return true;
}

/** The value of a key; undefined where there is none. */
export function childOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether maps and lists stand in each other more than `levels` deep. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const below: unknown[] = [];
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue;
      if (depth === levels) return true;
      for (const child of Object.values(each)) below.push(child);
    }
    level = below;
  }
  return false;
}
