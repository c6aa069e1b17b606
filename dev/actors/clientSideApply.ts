/** kubectl's three-way merge for custom resources: last-applied, wanted and live give one JSON merge patch. */
import { LAST_APPLIED } from '../../api/annotations.ts';
import { isMap } from '../../core/kube/json.ts';
import type { AnyObject } from '../client/send.ts';

type Json = Record<string, unknown>;

/** The manifest with the last-applied annotation, as kubectl sends it. */
export function withLastApplied(manifest: AnyObject): AnyObject {
  const plain = structuredClone(manifest);
  const annotations = { ...plain.metadata.annotations };
  delete annotations[LAST_APPLIED];
  plain.metadata = { ...plain.metadata, annotations };
  const text = `${JSON.stringify(plain)}\n`;
  return { ...plain, metadata: { ...plain.metadata, annotations: { ...annotations, [LAST_APPLIED]: text } } };
}

/** The merge patch that kubectl sends: removes fields that only the last apply had, and sets those that differ. */
export function mergePatchForApply(live: AnyObject, wanted: AnyObject): Json {
  const lastApplied = JSON.parse(live.metadata.annotations?.[LAST_APPLIED] ?? '{}') as Json;
  const patch = deletions(lastApplied, wanted as unknown as Json);
  merge(patch, changes(live as unknown as Json, wanted as unknown as Json));
  return patch;
}

const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

function deletions(before: Json, wanted: Json): Json {
  const patch: Json = {};
  for (const [key, value] of Object.entries(before)) {
    if (!(key in wanted)) patch[key] = null;
    else if (isMap(value) && isMap(wanted[key])) setUnlessEmpty(patch, key, deletions(value, wanted[key]));
  }
  return patch;
}

function changes(live: Json, wanted: Json): Json {
  const patch: Json = {};
  for (const [key, value] of Object.entries(wanted)) {
    const current = live[key];
    if (isMap(value) && isMap(current)) setUnlessEmpty(patch, key, changes(current, value));
    else if (!isEqual(value, current)) patch[key] = value;
  }
  return patch;
}

function setUnlessEmpty(patch: Json, key: string, value: Json): void {
  if (Object.keys(value).length > 0) patch[key] = value;
}

function merge(into: Json, from: Json): void {
  for (const [key, value] of Object.entries(from)) {
    if (isMap(into[key]) && isMap(value)) merge(into[key], value);
    else into[key] = value;
  }
}
