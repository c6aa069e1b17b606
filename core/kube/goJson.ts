/** Sizes as Go's json.Marshal writes values: what Metacontroller sends, and what the API server stores. */

const encoder = new TextEncoder();
/** Six bytes each: `\u003c`. */
const ESCAPED = /[<>&\u2028\u2029]/g;
/** Neither beyond ASCII nor escaped: a byte a character, as nearly everything in an object. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/;

/** Bytes of a JSON value, in time linear in its size. Not recursive: JSON may be deeper than the stack. */
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

/** What Go's escapes take beyond UTF-8: of `<` five bytes, of U+2028 three. */
function extraBytes(text: string): number {
  let extra = 0;
  for (const [escaped] of text.matchAll(ESCAPED)) extra += escaped < '\u0080' ? 5 : 3;
  return extra;
}
