/** The memory that values parsed from JSON take: a tenant decides how large objects are, and how many. */

/** The memory of an entry of a map or list, besides the text of key and value. */
const ENTRY_BYTES = 32;

/** The most memory of the objects of one list, or of the objects that a hook keeps from several lists. */
export const LIST_BYTES = 32 * 1024 * 1024;

/** A function that returns for each value whether all values so far take less memory than the limit, by an estimate. */
export function memoryLimit(): (value: unknown) => boolean {
  let bytes = 0;
  return (value) => {
    bytes += memoryBytes(value);
    return bytes <= LIST_BYTES;
  };
}

/** The memory that a value parsed from JSON takes, or a map of such values, by an estimate. */
export function memoryBytes(value: unknown): number {
  let bytes = 0;
  // No recursion: a user decides how deep an object is.
  const rest = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === 'string') bytes += next.length;
    else if (typeof next === 'object' && next !== null) {
      for (const [key, each] of next instanceof Map ? next : Object.entries(next)) {
        bytes += ENTRY_BYTES + key.length;
        rest.push(each);
      }
    }
  }
  return bytes;
}

/** The most memory of a map, list, entry or key in JSON, besides its text: in `[[[[` each list takes 56 bytes. */
const STRUCTURE_BYTES = 64;
const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, OPEN_MAP] = [34, 44, 58, 91, 92, 123];

/** The memory that the value of a JSON text takes at most, by an estimate from its structure: it isn't parsed. */
export function jsonMemory(json: Uint8Array): number {
  let structures = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const code = json[at];
    if (code === QUOTE) isText = !isText;
    else if (isText) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA || code === COLON || code === OPEN_LIST || code === OPEN_MAP) structures++;
  }
  return json.length + structures * STRUCTURE_BYTES;
}
