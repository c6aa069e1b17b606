/** Lists of names in annotations: `a, ns/b`. */
import { LIMITS } from '../limits.ts';

/** The parts, trimmed; undefined where there are more than anybody reads. An annotation may have 256 kB. */
export function splitNames(text: string): string[] | undefined {
  const parts: string[] = [];
  for (let from = 0; from <= text.length; ) {
    if (parts.length === LIMITS.namesInAnnotation) return undefined;
    const comma = text.indexOf(',', from);
    const end = comma < 0 ? text.length : comma;
    parts.push(text.slice(from, end).trim());
    from = end + 1;
  }
  return parts;
}
