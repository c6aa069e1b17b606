/** When a governed object may be deleted (docs/reference/writes.md, W19 to W22 and W30). */
import { AWAITS_ARTIFACT, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { Bypass } from '../gate/bypass.ts';
import type { GateResult } from '../gate/evaluateGates.ts';
import { refKey } from '../kube/names.ts';
import { deploymentText, parseDeployments } from './managedFields/deployment.ts';
import { bypassText, type Refusal, subjectOf } from './messages.ts';
import { applierOf } from './suspend/applier.ts';

/**
 * `closed`: the gates in the way. Closed Gates of the Rollouts that it follows are among them: to be deleted and created again
 * without annotations is a way to leave them. Whoever may bypass the gates is not stopped here.
 */
export function refuseDeletion(
  oldObject: FluxObject,
  closed: readonly GateResult[],
  bypass?: Bypass,
): Refusal | undefined {
  if (closed.length > 0) {
    const text = `${subjectOf(oldObject)} cannot be deleted: `;
    return { reason: 'gate_closed', text, closed, hint: bypassText(bypass, 'delete') };
  }
  if (oldObject.metadata.annotations?.[SUSPENDED] === undefined) return undefined;
  if (oldObject.metadata.annotations[AWAITS_ARTIFACT] !== undefined) return refuseWhileFetching(oldObject);
  const applier = applierOf(oldObject);
  const end = applier ? ` when Kustomization ${refKey(applier)} has applied everything again` : ' in a moment';
  return {
    reason: 'gate_closed',
    text:
      `${subjectOf(oldObject)} cannot be deleted yet: the gates are open, but its suspension is still on the object; ` +
      `what it applied would stay in the cluster forever. The suspension is lifted${end}; to lift it now, set spec.suspend to false.`,
  };
}

function refuseWhileFetching(oldObject: FluxObject): Refusal {
  const awaits = parseDeployments(oldObject.metadata.annotations?.[AWAITS_ARTIFACT]).map(deploymentText).join(', ');
  return {
    reason: 'pinned',
    text:
      `${subjectOf(oldObject)} cannot be deleted yet: it is suspended until its source has fetched ${awaits}; what it applied ` +
      'would stay in the cluster forever. To delete it now, suspend its source.',
  };
}
