/**
 * DecoratorController `gate-labels`: puts right the label by which a Gate with `spec.selects` is found. The webhook sets it
 * in every write; a Gate that was stored while the webhook was away, as from a backup, would select nothing without a word.
 */
import { SELECTS_LABEL } from '../api/annotations.ts';
import type { Gate } from '../api/types.ts';
import { selectsLabel } from '../core/gate/selects.ts';
import type { DecoratorHook } from './hook.ts';

/** A write of a decorator that meets a conflict is dropped without a word: ask again until there is nothing to write. */
const RETRY_S = 1;

export const gateLabelsHook: DecoratorHook = {
  async sync({ object }) {
    const gate = object as unknown as Gate;
    const label = selectsLabel(gate);
    if (gate.metadata.deletionTimestamp || gate.metadata.labels?.[SELECTS_LABEL] === label) return { attachments: [] };
    return { attachments: [], labels: { [SELECTS_LABEL]: label ?? null }, resyncAfterSeconds: RETRY_S };
  },
};
