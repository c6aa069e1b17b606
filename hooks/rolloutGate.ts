/** DecoratorController `rolloutgates`: labels those that were there before the webhook with the name of their Rollout. */
import { ROLLOUT_NAME_LABEL } from '../api/annotations.ts';
import type { RolloutGate } from '../api/types.ts';
import { labelValue } from '../core/kube/names.ts';
import type { DecoratorHook } from './hook.ts';

export const rolloutGateHook: DecoratorHook = {
  async sync({ object }) {
    const { metadata, spec } = object as unknown as RolloutGate;
    const value = spec?.rolloutRef?.name ? labelValue(spec.rolloutRef.name) : undefined;
    if (metadata.deletionTimestamp || metadata.labels?.[ROLLOUT_NAME_LABEL] === value) return { attachments: [] };
    return { labels: { [ROLLOUT_NAME_LABEL]: value ?? null }, attachments: [], resyncAfterSeconds: 1 };
  },
};
