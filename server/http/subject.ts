/** The object of a request, for the log: a hook's parent or object, or the object of an AdmissionReview. */
import type { Subject } from '../../api/ports.ts';
import { childOf, isMap } from '../../core/kube/json.ts';
import { identityOf } from '../../core/kube/names.ts';
import { endOfValue } from '../endOfValue.ts';

/** The bytes of a body that are searched for its object: Metacontroller sends the controller first, then the parent. */
export const BEGINNING_BYTES = 64 * 1024;

/** The object that the body is about; empty if unknown. */
export function subjectIn(body: unknown): Partial<Subject> {
  const object = ['parent', 'object'].map((key) => childOf(body, key)).find(isMap) ?? reviewed(body);
  const metadata = childOf(object, 'metadata');
  const kind = childOf(object, 'kind');
  if (typeof kind !== 'string' || !isMap(metadata)) return {};
  const { namespace, name } = identityOf({ metadata });
  return {
    kind,
    ...(typeof namespace === 'string' && namespace && { namespace }),
    ...(typeof name === 'string' && { name }),
  };
}

function reviewed(body: unknown): unknown {
  const request = childOf(body, 'request');
  const { name, namespace } = (isMap(request) ? request : {}) as Record<string, unknown>;
  return { kind: childOf(childOf(request, 'kind'), 'kind'), metadata: { name, namespace } };
}

/** The beginning of an object as Go writes it, with sorted keys. */
const BEGINNING = /"(?:parent|object)":\{"apiVersion":"[^"]*","kind":"([^"]*)","metadata":\{/;

/** The subject in the beginning of a body that is too large to be parsed; empty if its metadata doesn't end there. */
export function subjectInBeginning(text: string): Partial<Subject> {
  const found = BEGINNING.exec(text);
  if (!found) return {};
  const start = found.index + found[0].length - 1;
  const end = endOfValue(text, start);
  if (end === undefined) return {};
  try {
    return subjectIn({ parent: { kind: found[1], metadata: JSON.parse(text.slice(start, end)) } });
  } catch {
    return {};
  }
}
