/** What waits for something that does not exist, for a Gate that it brings itself, or for a commit that nothing makes. */
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { FluxBinding, Gate, Rollout, RolloutGate } from '../../api/types.ts';
import { type Finding, orFine } from '../../client/explain/doctor/finding.ts';
import { ignoredFindings } from '../../client/explain/doctor/ignored.ts';
import { waitedGateFindings } from '../../client/explain/doctor/waitedGates.ts';
import { absentFindings } from '../../client/explain/doctor/waits.ts';
import { writeBackFindings } from '../../client/explain/doctor/writeBack.ts';
import { writeBackName } from '../../core/policy/derivedPolicy.ts';
import { isApiError } from '../kube/client.ts';
import { type Check, type Examined, ofKind, seen } from './examined.ts';

const ABOUT = 'References';

export const checkReferences: Check = async (examined) => {
  const notes: Finding[] = [];
  const [rollouts, rolloutGates, bindings, gates, policies] = await Promise.all([
    ofKind<Rollout>(examined, 'Rollout', ABOUT, notes),
    ofKind<RolloutGate>(examined, 'RolloutGate', ABOUT, notes),
    ofKind<FluxBinding>(examined, 'FluxBinding', ABOUT, notes),
    // They may be of any namespace, whichever is looked at.
    ofKind<Gate>({ ...examined, namespace: undefined }, 'Gate', ABOUT, notes),
    imagePolicies(examined, notes),
  ]);
  const found = absentFindings({ rollouts, rolloutGates, bindings, gates, policies });
  return [...orFine(ABOUT, found, 'nothing waits for what does not exist'), ...notes];
};

/** Where Flux serves Kustomizations. */
export const checkAppliers: Check = async (examined) => {
  const notes: Finding[] = [];
  const [kustomizations = [], sources = [], rollouts] = await Promise.all([
    ofKind<FluxObject>(examined, 'Kustomization', 'Gates', notes),
    ofKind<FluxObject>(examined, 'OCIRepository', 'Fields', notes),
    ofKind<Rollout>(examined, 'Rollout', 'Fields', notes),
  ]);
  const fields = ignoredFindings([...kustomizations, ...sources], kustomizations, rollouts);
  return [...waitedGateFindings(kustomizations), ...fields, ...notes];
};

/** Whether Flux commits what Rollouts with spec.writeBack deploy. */
export const checkWriteBack: Check = async (examined) => {
  const notes: Finding[] = [];
  const rollouts = (await ofKind<Rollout>(examined, 'Rollout', 'Write-back', notes))?.filter(writeBackName) ?? [];
  if (rollouts.length === 0) return notes;
  const [policies, automations] = await Promise.all([
    ofKind<ImagePolicy>(examined, 'ImagePolicy', 'Write-back', notes),
    ofKind<FluxObject>(examined, 'ImageUpdateAutomation', 'Write-back', notes),
  ]);
  return [...writeBackFindings({ rollouts, policies, automations }), ...notes];
};

/** Older Flux serves them in an older version only. */
async function imagePolicies({ client }: Examined, notes: Finding[]): Promise<ImagePolicy[] | undefined> {
  const { group, versions, resource } = KINDS.ImagePolicy;
  for (const version of versions) {
    try {
      if ((await client.resources(`${group}/${version}`)).some(({ name }) => name === resource)) {
        return seen<ImagePolicy>(client, { apiVersion: `${group}/${version}`, resource }, ABOUT, notes);
      }
    } catch (error) {
      if (!isApiError(error, 403)) throw error;
    }
  }
  return undefined;
}
