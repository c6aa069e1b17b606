/**
 * DecoratorControllers `gate-labels` and `rolloutgates`: each repairs a label by which others find the object. The webhook
 * sets it in every write; an object stored while the webhook was down, say from a backup, would silently not be found.
 */
import { ROLLOUT_NAME_LABEL, SELECTS_LABEL } from '../api/annotations.ts';
import type { KubeObject } from '../api/kubernetes.ts';
import type { Gate, RolloutGate } from '../api/types.ts';
import { selectsLabel } from '../core/gate/selects.ts';
import { labelValue } from '../core/kube/names.ts';
import type { DecoratorHook } from './hook.ts';

/** Metacontroller drops a decorator's write that meets a conflict, silently: look again until there is nothing to write. */
const RETRY_S = 1;

export const gateLabelsHook = labelHook(SELECTS_LABEL, (gate) => selectsLabel(gate as unknown as Gate));

export const rolloutGateHook = labelHook(ROLLOUT_NAME_LABEL, (object) => {
  const rollout = (object as unknown as RolloutGate).spec?.rolloutRef?.name;
  return rollout ? labelValue(rollout) : undefined;
});

/** `wanted` undefined: the object must not have the label. */
function labelHook(label: string, wanted: (object: KubeObject) => string | undefined): DecoratorHook {
  return {
    async sync({ object }) {
      const value = wanted(object);
      if (object.metadata.deletionTimestamp || object.metadata.labels?.[label] === value) return { attachments: [] };
      return { attachments: [], labels: { [label]: value ?? null }, resyncAfterSeconds: RETRY_S };
    },
  };
}
