/** Labels by which hooks and webhooks find objects, for decorators that repair them. */
import type { KubeObject } from '../api/kubernetes.ts';
import type { DecoratorResponse } from '../api/metacontroller.ts';
import { CONFLICT_REQUEUE_SECONDS } from './hook.ts';

/**
 * The part of an answer that repairs labels; empty if all are right.
 * @param wanted a label without a value is one that the object must not have
 */
export function repairedLabels(
  { metadata }: KubeObject,
  wanted: Record<string, string | undefined>,
): Pick<DecoratorResponse, 'labels' | 'resyncAfterSeconds'> {
  const { labels = {}, deletionTimestamp } = metadata;
  const wrong = Object.entries(wanted).filter(([label, value]) => labels[label] !== value);
  if (deletionTimestamp || wrong.length === 0) return {};
  const repaired = Object.fromEntries(wrong.map(([label, value]) => [label, value ?? null]));
  return { labels: repaired, resyncAfterSeconds: CONFLICT_REQUEUE_SECONDS };
}
