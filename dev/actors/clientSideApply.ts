/** kubectl's client-side apply of custom resources, as a JSON merge patch. */
import { LAST_APPLIED } from '../../api/annotations.ts';
import { isMap } from '../../core/kube/json.ts';
import type { AnyObject } from '../client/send.ts';

type Json = Record<string, unknown>;

/** The manifest with the last-applied annotation, as kubectl sends it. */
export function withLastApplied(manifest: AnyObject): AnyObject {
  const { [LAST_APPLIED]: _, ...annotations } = manifest.metadata.annotations ?? {};
  const plain = { ...manifest, metadata: { ...manifest.metadata, annotations } };
  const text = `${JSON.stringify(plain)}\n`;
  return { ...plain, metadata: { ...plain.metadata, annotations: { ...annotations, [LAST_APPLIED]: text } } };
}

/** The merge patch: sets the fields of the manifest, and removes those that only the last apply had. */
export function mergePatchForApply(live: AnyObject, manifest: AnyObject): Json {
  const lastApplied = JSON.parse(live.metadata.annotations?.[LAST_APPLIED] ?? '{}') as Json;
  return withRemovals(lastApplied, manifest as unknown as Json);
}

function withRemovals(before: Json, wanted: Json): Json {
  const removed = Object.keys(before).filter((key) => !(key in wanted));
  const set = Object.entries(wanted).map(([key, value]) => {
    const old = before[key];
    return [key, isMap(value) && isMap(old) ? withRemovals(old, value) : value];
  });
  return { ...Object.fromEntries(removed.map((key) => [key, null])), ...Object.fromEntries(set) };
}
