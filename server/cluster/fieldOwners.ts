/**
 * Answers of the API server without the fields that each manager owns. A tenant can make these half a megabyte of an
 * object, and as maps with thousands of different keys they take a hundred times as long to parse as other JSON, and
 * twenty times their size in memory.
 */

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN = [91, 123];
const CLOSE = [93, 125];
/** A key, as Go writes it: before a quote inside of a string there is a backslash. */
const FIELD_OWNERS = /[,{]"fieldsV1":(?=\{)/g;

/** The JSON with an empty object for each `fieldsV1`. */
export function withoutFieldOwners(json: string): string {
  const key = new RegExp(FIELD_OWNERS);
  const parts: string[] = [];
  let from = 0;
  for (let found = key.exec(json); found; found = key.exec(json)) {
    parts.push(json.slice(from, key.lastIndex), '{}');
    from = endOfValue(json, key.lastIndex);
    key.lastIndex = from;
  }
  return parts.length === 0 ? json : parts.join('') + json.slice(from);
}

/** The index after the object or list that begins at this index. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (OPEN.includes(code)) depth += 1;
    else if (CLOSE.includes(code)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return json.length;
}

/** The index of the quote that ends the string that begins at this index. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return json.length;
}
