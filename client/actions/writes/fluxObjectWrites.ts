/** Writes of a Flux object that a closed Gate holds, or that a user has suspended. */
import { BYPASS_REASON } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import { kstatusOf } from '../../../core/kstatus/kstatus.ts';
import { noChange, type PlannedWrite, type Progress, patchWrite, titleOf } from './plannedWrite.ts';
import { newReason } from './rolloutWrites.ts';

/** Resumes an object behind a closed Gate, with its present spec. A new version needs a bypass on its Rollout. */
export function bypassObject(object: FluxObject, reason: string, now: EpochMs): PlannedWrite {
  const title = titleOf(object);
  if (object.spec?.suspend !== true) return noChange(`${title} is not suspended: nothing holds it.`);
  const annotations = { [BYPASS_REASON]: newReason(object, reason, now) };
  return patchWrite(
    object,
    { metadata: { annotations }, spec: { suspend: false } },
    {
      text: `Resumed ${title} despite the closed Gates that hold it`,
      concerns: [`${title} runs again although a Gate is closed; your name and reason are recorded`],
    },
  );
}

/** Resumes an object that a user has suspended. */
export function resumeObject(object: FluxObject): PlannedWrite {
  return patchWrite(object, { spec: { suspend: false } }, { text: `Resumed ${titleOf(object)}` });
}

/** The progress of Flux's reconciliation, by the object's own status. */
export function reconcileProgress(object: FluxObject, now: EpochMs): Progress {
  if (object.spec?.suspend === true) return { is: 'failed', text: 'it is suspended again' };
  if (object.status?.observedGeneration === undefined)
    return { is: 'under way', text: 'Flux has not reconciled it yet' };
  const { status, message } = kstatusOf(object, now);
  if (status === 'Failed' || status === 'Terminating') return { is: 'failed', text: message };
  return status === 'Current' ? { is: 'reached', text: 'reconciled' } : { is: 'under way', text: message };
}
