/** The memory that values parsed from JSON take: a tenant decides how large objects are, and how many. */

/** The memory of an entry of a map or list, besides the text of key and value. */
const ENTRY_BYTES = 32;

/** The limit of the objects of one list, and of those that a hook keeps of several. */
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
