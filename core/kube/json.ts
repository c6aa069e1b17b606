/** JSON values as tenants may send them: nothing here is recursive, since JSON may be deeper than the stack. */

const encoder = new TextEncoder();
/** Go's encoder writes these as six bytes: `\u003c`. */
const ESCAPED = /[<>&\u2028\u2029]/g;

/** Equality as JSON has it: the order of keys means nothing, and a key whose value is undefined is not there. */
export function sameJson(one: unknown, other: unknown): boolean {
  const todo = [[one, other]];
  while (todo.length > 0) {
    const [a, b] = todo.pop()!;
    if (a === b) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
      for (const [index, item] of a.entries()) todo.push([item, b[index]]);
      continue;
    }
    const entries = definedEntries(a!);
    if (entries.length !== definedEntries(b!).length) return false;
    for (const [key, value] of entries) {
      if (!Object.hasOwn(b!, key)) return false;
      todo.push([value, (b as Record<string, unknown>)[key]]);
    }
  }
  return true;
}

function definedEntries(map: object): [string, unknown][] {
  return Object.entries(map).filter(([, value]) => value !== undefined);
}

/** The value of a key; undefined where there is none. */
export function childOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether maps and lists are nested more than `levels` deep. */
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

/** Bytes of a value as the API server stores it. */
export function jsonSize(value: unknown): number {
  const todo = [value];
  let size = 0;
  while (todo.length > 0) {
    const next = todo.pop();
    if (typeof next === 'string') size += textSize(next);
    else if (typeof next !== 'object' || next === null) size += String(next).length;
    else {
      size += 2;
      for (const [key, child] of Object.entries(next)) {
        size += Array.isArray(next) ? 1 : textSize(key) + 2;
        todo.push(child);
      }
    }
  }
  return size;
}

function textSize(text: string): number {
  return encoder.encode(JSON.stringify(text)).length + 5 * (text.match(ESCAPED)?.length ?? 0);
}
