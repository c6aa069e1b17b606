/** Writes of a RolloutGate: its lists of versions, approvals, and `passing`. */

import {
  APPROVE,
  APPROVE_REASON,
  ROLLOUT_NAME_LABEL,
  SCHEDULE_KIND_LABEL,
  SCHEDULE_NAME_LABEL,
  UNAPPROVE,
} from '../../../api/annotations.ts';
import type { Rollout, RolloutGate } from '../../../api/types.ts';
import { identityOf, labelValue } from '../../../core/kube/names.ts';
import { allows, rejectedBy } from '../../../core/rollout/evaluation/rolloutGates.ts';
import { withCommands } from '../../../core/text/commands.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { shell } from '../../../core/text/shell.ts';
import { approvalChange } from './approvalChange.ts';
import {
  annotateOperations,
  badRequest,
  createWrite,
  type JsonPatchOperation,
  type MergePatch,
  newObject,
  noChange,
  type PlannedWrite,
  patchMetadata,
  patchWrite,
  reasonAnnotation,
  titleOf,
} from './plannedWrite.ts';
import { tagProblem } from './rolloutWrites.ts';

type Reason = string | undefined;

/** Whether the RolloutGate holds the version. */
export function holdsVersion(gate: RolloutGate, version: string): boolean {
  return !allows(gate, version) || rejectedBy([gate], version) !== undefined || lacksApprovals(gate, version);
}

function lacksApprovals({ spec, status }: RolloutGate, version: string): boolean {
  const counted = status?.approvals?.versions?.find((each) => each.version === version);
  return spec?.approvals !== undefined && counted?.enough !== true;
}

/** The schedule that writes the RolloutGate, and would overwrite other changes: `RolloutSchedule nights`. */
export function scheduleOf({ metadata }: RolloutGate): string | undefined {
  const { [SCHEDULE_KIND_LABEL]: kind, [SCHEDULE_NAME_LABEL]: name } = metadata.labels ?? {};
  return kind && name ? `${kind} ${name}` : undefined;
}

/** Allows one version, and holds all others as before: a closed RolloutGate then passes with a list of this version. */
export function approve(gate: RolloutGate, version: string, reason: Reason): PlannedWrite {
  const problem = scheduleProblem(gate);
  if (problem) return badRequest(problem);
  const { passing = true, allowedVersions, rejectedVersions = [] } = gate.spec ?? {};
  if (!holdsVersion(gate, version)) return noChange(`${titleOf(gate)} allows ${version} already.`);
  if (gate.spec?.approvals) return giveApproval(gate, version, reason);
  const others = rejectedVersions.filter((tag) => tag !== version);
  const spec = {
    ...(!passing && { passing: true, allowedVersions: [version] }),
    ...(passing &&
      allowedVersions &&
      !allowedVersions.includes(version) && { allowedVersions: [...allowedVersions, version] }),
    ...(others.length < rejectedVersions.length && { rejectedVersions: others }),
  };
  const rejected =
    others.length < rejectedVersions.length
      ? [`${titleOf(gate)} rejects ${version} now: approving removes the version from spec.rejectedVersions`]
      : [];
  const isOnlyNew = passing && allowedVersions !== undefined && rejected.length === 0;
  return patchWrite(gate, specPatch(gate, spec, reason), {
    text: `Approved ${version} at ${titleOf(gate)}`,
    concerns: rejected,
    brings: { version },
    ...(isOnlyNew && { jsonPatch: appended(gate, 'allowedVersions', version, reason) }),
  });
}

/** The operations that append the version to a list that has entries, and record the reason. */
function appended(gate: RolloutGate, list: string, version: string, reason: Reason): JsonPatchOperation[] {
  return [
    ...annotateOperations(gate, reasonAnnotation(reason)),
    { op: 'add', path: `/spec/${list}/-`, value: version },
  ];
}

/** Requests one of the approvals that the version needs. The webhook replaces the annotation by a record. */
function giveApproval(gate: RolloutGate, version: string, reason: Reason): PlannedWrite {
  const annotations = { [APPROVE]: version, ...(reason && { [APPROVE_REASON]: reason }) };
  const known = gate.status?.approvals?.versions?.find((each) => each.version === version)?.count ?? 0;
  const text = `Approved ${version} at ${titleOf(gate)} (${known} of ${gate.spec?.approvals?.required} approvals counted before)`;
  return patchWrite(gate, patchMetadata(annotations), {
    text,
    brings: { version },
    approval: approvalChange(gate, version, 'given'),
  });
}

/** Withdraws the user's own approval. */
export function withdraw(gate: RolloutGate, version: string): PlannedWrite {
  if (!gate.spec?.approvals)
    return badRequest(`${titleOf(gate)} has no spec.approvals, so there is no approval to withdraw.`);
  return patchWrite(gate, patchMetadata({ [UNAPPROVE]: version }), {
    text: `Withdrew your approval of ${version} at ${titleOf(gate)}`,
    approval: approvalChange(gate, version, 'withdrawn'),
  });
}

/** Lists a version as rejected: it is not deployed while it is listed, not even manually. */
export function reject(gate: RolloutGate, version: string, reason: Reason): PlannedWrite {
  const problem = scheduleProblem(gate);
  if (problem) return badRequest(problem);
  const { rejectedVersions = [] } = gate.spec ?? {};
  if (rejectedVersions.includes(version)) return noChange(`${titleOf(gate)} rejects ${version} already.`);
  const spec = { rejectedVersions: [...rejectedVersions, version] };
  const isOnlyNew = rejectedVersions.length > 0;
  return patchWrite(gate, specPatch(gate, spec, reason), {
    text: `Rejected ${version} at ${titleOf(gate)}`,
    ...(isOnlyNew && { jsonPatch: appended(gate, 'rejectedVersions', version, reason) }),
  });
}

/** Rejects a version for a Rollout without a RolloutGate. */
export function rejectByNewGate(rollout: Rollout, version: string, reason: Reason): PlannedWrite {
  const problem = tagProblem(version);
  if (problem) return badRequest(problem);
  const gate = newGate(rollout, `${rollout.metadata.name}-rejected`, { rejectedVersions: [version] }, reason);
  return createWrite(gate, { text: `Created ${titleOf(gate)}, which rejects ${version}` });
}

/** Creates a closed RolloutGate, which blocks all automatic deployments of its Rollout. */
export function closeByNewGate(rollout: Rollout, name: string, reason: Reason): PlannedWrite {
  const gate = newGate(rollout, name, { passing: false }, reason);
  return createWrite(gate, { text: `Created ${titleOf(gate)}, which blocks every version of ${titleOf(rollout)}` });
}

function newGate(rollout: Rollout, name: string, spec: object, reason: Reason) {
  const of = identityOf(rollout);
  const labels = { [ROLLOUT_NAME_LABEL]: labelValue(of.name) };
  const annotations = reason && { annotations: reasonAnnotation(reason) };
  const metadata = { namespace: of.namespace, name, labels, ...annotations };
  return newObject('RolloutGate', metadata, { rolloutRef: { name: of.name }, ...spec });
}

export const UNTIMED = badRequest(
  'A RolloutGate stays closed until it is opened: --for, --until and --at are for Gates.',
);

/** Sets `spec.passing`. An open RolloutGate still applies its lists and required approvals. */
export function setPassing(gate: RolloutGate, passing: boolean, reason: Reason): PlannedWrite {
  const problem = scheduleProblem(gate);
  if (problem) return badRequest(problem);
  const listed = passing ? gate.spec?.allowedVersions : undefined;
  if ((gate.spec?.passing ?? true) !== passing) {
    const only = listed ? ` for its spec.allowedVersions only (${firstFew(listed, 5) || 'none'})` : '';
    return patchWrite(gate, specPatch(gate, { passing }, reason), {
      text: `${passing ? 'Opened' : 'Closed'} ${titleOf(gate)}${only}`,
    });
  }
  const already = `${titleOf(gate)} is ${passing ? 'open' : 'closed'} already (spec.passing: ${passing})`;
  if (!listed) return noChange(`${already}.`);
  const { namespace, name } = identityOf(gate);
  const allowAll = shell`kubectl -n ${namespace} patch rolloutgate/${name} --type=merge -p ${'{"spec":{"allowedVersions":null}}'}`;
  return noChange(withCommands(`${already}, for its spec.allowedVersions only.`, ['To allow every version', allowAll]));
}

function scheduleProblem(gate: RolloutGate): string | undefined {
  const schedule = scheduleOf(gate);
  return schedule && `${schedule} sets ${titleOf(gate)}: change the schedule, or deploy the version manually.`;
}

/**
 * The patch of spec fields. The API server rejects it if the RolloutGate has changed since it was read: a list is
 * replaced as a whole, and entries that another client has added must not get lost.
 */
function specPatch(gate: RolloutGate, spec: Record<string, unknown>, reason: Reason): MergePatch {
  return { ...patchMetadata(reasonAnnotation(reason), gate), spec };
}
