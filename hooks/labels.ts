/**
 * DecoratorControllers `gate-labels` and `rolloutgates`: each repairs the labels by which others find the object. The webhook
 * sets them in every write; an object stored while the webhook was down, say from a backup, would silently not be found.
 */
import { ROLLOUT_NAME_LABEL } from '../api/annotations.ts';
import type { KubeObject } from '../api/kubernetes.ts';
import type { Gate, RolloutGate } from '../api/types.ts';
import { selectsLabels } from '../core/gate/selects.ts';
import { labelValue } from '../core/kube/names.ts';
import type { DecoratorHook } from './hook.ts';

/** Metacontroller drops a decorator's write that meets a conflict, silently: look again until there is nothing to write. */
const RETRY_S = 1;

export const gateLabelsHook = labelHook((gate) => selectsLabels(gate as unknown as Gate));

export const rolloutGateHook = labelHook((object) => {
  const rollout = (object as unknown as RolloutGate).spec?.rolloutRef?.name;
  return { [ROLLOUT_NAME_LABEL]: rollout ? labelValue(rollout) : undefined };
});

/** A label whose value is undefined is one that the object must not have. */
function labelHook(wanted: (object: KubeObject) => Record<string, string | undefined>): DecoratorHook {
  return {
    async sync({ object }) {
      const { labels = {}, deletionTimestamp } = object.metadata;
      const wrong = Object.entries(wanted(object)).filter(([label, value]) => labels[label] !== value);
      if (deletionTimestamp || wrong.length === 0) return { attachments: [] };
      const repaired = Object.fromEntries(wrong.map(([label, value]) => [label, value ?? null]));
      return { attachments: [], labels: repaired, resyncAfterSeconds: RETRY_S };
    },
  };
}
