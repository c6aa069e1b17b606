/** Whether Flux commits what Rollouts with spec.writeBack deploy. */
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import type { Rollout } from '../../api/types.ts';
import type { Finding } from '../../client/explain/doctor/finding.ts';
import { writeBackFindings } from '../../client/explain/doctor/writeBack.ts';
import { writeBackName } from '../../core/policy/writeBack.ts';
import { type Check, ofKind } from './examined.ts';

const ABOUT = 'Write-back';

export const checkWriteBack: Check = async (examined) => {
  const notes: Finding[] = [];
  const rollouts = (await ofKind<Rollout>(examined, 'Rollout', ABOUT, notes))?.filter(writeBackName) ?? [];
  if (rollouts.length === 0) return notes;
  const [policies, automations] = await Promise.all([
    ofKind<ImagePolicy>(examined, 'ImagePolicy', ABOUT, notes),
    ofKind<FluxObject>(examined, 'ImageUpdateAutomation', ABOUT, notes),
  ]);
  return [...writeBackFindings({ rollouts, policies, automations }), ...notes];
};
