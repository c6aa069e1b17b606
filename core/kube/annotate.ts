import type { AnyObject } from '../../api/kubernetes.ts';

/** The object with the annotation set, or without it (undefined). If nothing changes, it is the same object. */
export function annotate<T extends AnyObject>(object: T, key: string, value: string | undefined): T {
  return withValue(object, 'annotations', key, value);
}

/** The object with several annotations set, or without those that are undefined. */
export function annotateAll<T extends AnyObject>(object: T, values: Record<string, string | undefined>): T {
  return Object.entries(values).reduce((before, [key, value]) => annotate(before, key, value), object);
}

/** The object with several labels set, or without those that are undefined. */
export function labelAll<T extends AnyObject>(object: T, labels: Record<string, string | undefined>): T {
  return Object.entries(labels).reduce((before, [key, value]) => withValue(before, 'labels', key, value), object);
}

function withValue<T extends AnyObject>(
  object: T,
  field: 'annotations' | 'labels',
  key: string,
  value: string | undefined,
): T {
  const before = object.metadata[field];
  if (before?.[key] === value && (value !== undefined || !before || !(key in before))) return object;
  const { [key]: _, ...others } = before ?? {};
  if (value !== undefined) return { ...object, metadata: { ...object.metadata, [field]: { ...others, [key]: value } } };
  const { [field]: _old, ...metadata } = object.metadata;
  return { ...object, metadata: Object.keys(others).length > 0 ? { ...metadata, [field]: others } : metadata };
}
