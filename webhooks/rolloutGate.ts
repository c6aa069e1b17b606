/** RolloutGates carry their Rollout's name as a label, so that the Rollout's hook can relate them. */
import { ROLLOUT_NAME_LABEL } from '../api/annotations.ts';
import type { RolloutGate } from '../api/types.ts';
import { labelValue } from '../core/kube/names.ts';
import { type AdmissionHandler, allowed } from './response.ts';

export const mutateRolloutGate: AdmissionHandler = async ({ object }) => {
  const gate = object as RolloutGate | null | undefined;
  if (!gate) return allowed();
  const { [ROLLOUT_NAME_LABEL]: before, ...others } = gate.metadata.labels ?? {};
  const rollout = gate.spec?.rolloutRef?.name;
  const value = rollout ? labelValue(rollout) : undefined;
  if (value === before) return allowed();
  const labels = value === undefined ? others : { ...others, [ROLLOUT_NAME_LABEL]: value };
  return { allowed: true, object: { ...gate, metadata: { ...gate.metadata, labels } } };
};
