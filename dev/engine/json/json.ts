/** JSON values, and the text Go would write. */
import { isMap } from '../../../core/kube/json.ts';

export type JsonObject = Record<string, unknown>;

const ESCAPED = /[<>&\u2028\u2029]/g;

/** Keys sorted and HTML characters escaped, as Go does: both engines then write the same last-applied annotation. */
export function goJson(value: unknown): string {
  return JSON.stringify(value, sortKeys).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
