/** JSON values of tenants. No function here is recursive: JSON may be deeper than the stack. */

type Fields = Readonly<Record<string, unknown>>;

/** The path as a JSON pointer (RFC 6901). */
export function jsonPointer(path: readonly string[]): string {
  return path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Whether JSON values are equal: the order of keys doesn't count, and a key with the value undefined is absent. */
export function sameJson(one: unknown, other: unknown): boolean {
  // Only maps and lists: a list of all values would be many times as large as their text.
  const todo: [object, object][] = [];
  const isSame = (a: unknown, b: unknown) => {
    if (a === b) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    todo.push([a, b]);
    return true;
  };
  if (!isSame(one, other)) return false;
  for (let pair = todo.pop(); pair; pair = todo.pop()) {
    const [a, b] = pair;
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
      if (!a.every((item, index) => isSame(item, b[index]))) return false;
    } else if (!hasSameFields(a as Fields, b as Fields, isSame)) return false;
  }
  return true;
}

function hasSameFields(a: Fields, b: Fields, isSame: (a: unknown, b: unknown) => boolean): boolean {
  let surplus = 0;
  for (const key of Object.keys(b)) if (b[key] !== undefined) surplus++;
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue;
    if (!Object.hasOwn(b, key) || !isSame(a[key], b[key])) return false;
    surplus--;
  }
  return surplus === 0;
}

/** A copy with each text as Go stores it: a lone half of a surrogate pair, which a cut can leave, becomes U+FFFD. */
export function toWellFormedJson<Value>(value: Value): Value {
  const todo: [from: object, to: object][] = [];
  const copyOf = (each: unknown): unknown => {
    if (typeof each === 'string') return each.toWellFormed();
    if (typeof each !== 'object' || each === null) return each;
    const copy = Array.isArray(each) ? [] : {};
    todo.push([each, copy]);
    return copy;
  };
  const copied = copyOf(value);
  for (let pair = todo.pop(); pair; pair = todo.pop()) {
    const [from, to] = pair;
    for (const [key, child] of Object.entries(from)) setOwn(to, key, copyOf(child));
  }
  return copied as Value;
}

/** Sets a key of the object, even `__proto__`, which an assignment would not create. */
function setOwn(object: object, key: string, value: unknown): void {
  if (key !== '__proto__') (object as Record<string, unknown>)[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The value of a key; undefined if there is none. */
export function childOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The record without fields that are undefined or empty texts. */
export function withoutEmpty<T extends object>(record: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined && value !== ''),
  ) as Defined<T>;
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

// Sizes of values in the form of Go's json.Marshal, in which Metacontroller sends and the API server stores them.

const encoder = new TextEncoder();
/** Characters that Go escapes with six bytes: `\u003c`. */
const ESCAPED = /[<>&\u2028\u2029]/g;
/** Texts of one byte per character: ASCII that is not escaped. Nearly all texts of an object are such. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/;

/** The bytes of a JSON value, in time linear in its size. */
export function goJsonBytes(value: unknown): number {
  const todo = [value];
  let bytes = 0;
  while (todo.length > 0) {
    const next = todo.pop();
    if (typeof next === 'string') bytes += textBytes(next);
    else if (typeof next !== 'object' || next === null) bytes += String(next ?? null).length;
    else {
      const isList = Array.isArray(next);
      // Brackets, and a comma between each two.
      let parts = 0;
      for (const [key, child] of Object.entries(next)) {
        if (child === undefined && !isList) continue;
        parts++;
        if (!isList) bytes += textBytes(key) + 1;
        todo.push(child);
      }
      bytes += 2 + Math.max(0, parts - 1);
    }
  }
  return bytes;
}

function textBytes(text: string): number {
  if (PLAIN.test(text)) return text.length + 2;
  return encoder.encode(JSON.stringify(text)).length + extraBytes(text);
}

/** The bytes that Go's escapes add to UTF-8: five for `<`, three for U+2028. */
function extraBytes(text: string): number {
  let extra = 0;
  for (const [escaped] of text.matchAll(ESCAPED)) extra += escaped < '\u0080' ? 5 : 3;
  return extra;
}
