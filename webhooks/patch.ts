/** The JSON Patch (RFC 6902) that makes one object of another. */
import { childOf, isMap, sameJson } from '../core/kube/json.ts';

type Operation = { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string };

/** `/metadata/annotations/<key>`, `/spec/postBuild/substitute`. */
const DEEPEST = 3;

/**
 * What differs deeper down is replaced as one: a patch field by field has a path for each, which for values that are
 * nested deep is many times the size of the object. The API server goes by the result.
 */
export function patchOf(before: unknown, after: unknown, path: readonly string[] = []): Operation[] {
  if (before !== undefined && sameJson(before, after)) return [];
  const at = path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  if (after === undefined) return before === undefined ? [] : [{ op: 'remove', path: at }];
  if (before === undefined) return [{ op: 'add', path: at, value: after }];
  if (path.length === DEEPEST || !isMap(before) || !isMap(after)) return [{ op: 'replace', path: at, value: after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => patchOf(childOf(before, key), childOf(after, key), [...path, key]));
}
