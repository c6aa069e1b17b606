/**
 * DecoratorController `gate-labels`: repairs the labels by which hooks and the webhook find a Gate.
 * The webhook sets these labels in every write, but not in a write while it is down, such as the restore of a backup.
 */
import type { KubeObject } from '../api/kubernetes.ts';
import type { DecoratorResponse } from '../api/metacontroller.ts';
import type { Gate } from '../api/types.ts';
import { selectsLabels } from '../core/gate/gateSelection.ts';
import { CONFLICT_REQUEUE_SECONDS, type DecoratorHook } from './hook.ts';

export const gateLabelsHook: DecoratorHook = {
  async sync({ object }) {
    return { attachments: [], ...repairedLabels(object, selectsLabels(object as unknown as Gate)) };
  },
};

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
