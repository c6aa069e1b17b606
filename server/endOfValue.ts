const QUOTE = 34;
const BACKSLASH = 92;
const OPEN = [91, 123];
const CLOSE = [93, 125];

/** The index after the JSON object or list that begins at this index; undefined if the text ends before. */
export function endOfValue(json: string, start: number): number | undefined {
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
  return undefined;
}

/** The index of the quote that ends the string that begins at this index; the end of the text if that ends before. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return json.length;
}
