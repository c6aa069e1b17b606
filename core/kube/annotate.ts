import type { KubeObject } from '../../api/kubernetes.ts';

/** The object with the annotation set, or without it (undefined). The same object when it is so already. */
export function annotate<T extends KubeObject<any, any>>(object: T, key: string, value: string | undefined): T {
  const before = object.metadata.annotations;
  if (before?.[key] === value && (value !== undefined || !before || !(key in before))) return object;
  const { [key]: _, ...others } = before ?? {};
  if (value !== undefined)
    return { ...object, metadata: { ...object.metadata, annotations: { ...others, [key]: value } } };
  const { annotations, ...metadata } = object.metadata;
  return { ...object, metadata: Object.keys(others).length > 0 ? { ...metadata, annotations: others } : metadata };
}
