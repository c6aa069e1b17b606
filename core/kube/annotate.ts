import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import { minuteOf } from './time.ts';

/** The object with the annotation set, or without it (undefined). If nothing changes, it is the same object. */
export function annotate<T extends AnyObject>(object: T, key: string, value: string | undefined): T {
  return withValue(object, 'annotations', key, value);
}

/** The object with several annotations set, or without those that are undefined. */
export function annotateAll<T extends AnyObject>(object: T, values: Record<string, string | undefined>): T {
  return Object.entries(values).reduce((before, [key, value]) => annotate(before, key, value), object);
}

/**
 * The value to write of an annotation whose write only triggers the webhook; undefined if the object has it already.
 * Metacontroller writes no value twice. So a value that the webhook hasn't seen, because the API server didn't call it,
 * is written again with the present minute. The webhook stores its own value, without the minute.
 * @param separator between value and minute
 */
export function triggerValue(
  stored: string | undefined,
  value: string,
  separator: string,
  now: EpochMs,
): string | undefined {
  const isStored = stored === value || stored?.startsWith(`${value}${separator}`);
  const wanted = isStored ? withMinute(value, separator, now) : value;
  return stored === wanted ? undefined : wanted;
}

/** The value of a trigger that is written again, once a minute. */
export function withMinute(value: string, separator: string, now: EpochMs): string {
  return `${value}${separator}${minuteOf(now)}`;
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
