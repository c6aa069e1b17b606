const encoder = new TextEncoder();
/** Go's encoder writes these as six bytes: `\u003c`. */
const ESCAPED = /[<>&\u2028\u2029]/g;

/** Bytes of a value as the API server stores it. Not recursive: JSON may be deeper than the stack. */
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
