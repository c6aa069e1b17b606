/** JSON.parse silently keeps the last of two equal keys; Metacontroller's strict mode fails such an answer. */

interface Frame {
  /** The keys seen so far in an object; undefined inside an array. */
  keys: Set<string> | undefined;
  expectsKey: boolean;
}

/** The first key that appears twice in one object, or undefined. `text` must be valid JSON. Linear in its length. */
export function findDuplicateKey(text: string): string | undefined {
  const stack: Frame[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const frame = stack[stack.length - 1];
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        stack.push({ keys: new Set(), expectsKey: true });
        break;
      case 0x5b: // [
        stack.push({ keys: undefined, expectsKey: false });
        break;
      case 0x7d: // }
      case 0x5d: // ]
        stack.pop();
        break;
      case 0x2c: // ,
        if (frame?.keys) frame.expectsKey = true;
        break;
      case 0x22: {
        const end = endOfString(text, at);
        if (frame?.keys && frame.expectsKey) {
          const key = JSON.parse(text.slice(at, end + 1)) as string;
          if (frame.keys.has(key)) return key;
          frame.keys.add(key);
          frame.expectsKey = false;
        }
        at = end;
        break;
      }
    }
  }
  return undefined;
}

/** Position of the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}
