/**
 * DecoratorController `gate-labels`: repairs the labels by which hooks and the webhook find a Gate.
 * The webhook sets these labels in every write, but not in a write while it is down, such as the restore of a backup.
 */
import type { Gate } from '../api/types.ts';
import { selectsLabels } from '../core/gate/gateSelection.ts';
import type { DecoratorHook } from './hook.ts';
import { repairedLabels } from './repairedLabels.ts';

export const gateLabelsHook: DecoratorHook<Gate> = {
  async sync({ object }) {
    return { attachments: [], ...repairedLabels(object, selectsLabels(object)) };
  },
};
