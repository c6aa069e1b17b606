/** Writes of a RolloutGate's lists: allowed and rejected versions. */
import {
  APPROVE,
  APPROVE_REASON,
  ROLLOUT_NAME_LABEL,
  SCHEDULE_KIND_LABEL,
  SCHEDULE_NAME_LABEL,
  UNAPPROVE,
} from '../../../api/annotations.ts';
import { apiVersionOf, KINDS } from '../../../api/kinds.ts';
import type { Rollout, RolloutGate } from '../../../api/types.ts';
import { identityOf, labelValue } from '../../../core/kube/names.ts';
import {
  because,
  creating,
  named,
  nothing,
  type PlannedWrite,
  patching,
  patchMetadata,
  type WriteRequest,
  wrong,
} from './plannedWrite.ts';
import { tagProblem } from './rolloutWrites.ts';

type Reason = string | undefined;

/** Whether the gate keeps the version out. */
export function holdsVersion(gate: RolloutGate, version: string): boolean {
  const { passing = true, allowedVersions, rejectedVersions = [] } = gate.spec ?? {};
  const isListed = allowedVersions === undefined || allowedVersions.includes(version);
  return !passing || !isListed || rejectedVersions.includes(version) || lacksApprovals(gate, version);
}

function lacksApprovals({ spec, status }: RolloutGate, version: string): boolean {
  const counted = status?.approvals?.versions?.find((each) => each.version === version);
  return spec?.approvals !== undefined && counted?.enough !== true;
}

/** The schedule that writes the gate, and would overwrite other changes: `RolloutSchedule nights`. */
export function scheduleOf({ metadata }: RolloutGate): string | undefined {
  const { [SCHEDULE_KIND_LABEL]: kind, [SCHEDULE_NAME_LABEL]: name } = metadata.labels ?? {};
  return kind && name ? `${kind} ${name}` : undefined;
}

/** Allows this version, and holds all others as before: a gate that allowed none then allows this one. */
export function approve(gate: RolloutGate, version: string, reason: Reason): PlannedWrite {
  const problem = tagProblem(version) ?? scheduleProblem(gate);
  if (problem) return wrong(problem);
  const { passing = true, allowedVersions, rejectedVersions = [] } = gate.spec ?? {};
  if (!holdsVersion(gate, version)) return nothing(`${nameOf(gate)} lets ${version} through already.`);
  if (gate.spec?.approvals) return giveApproval(gate, version, reason);
  const others = rejectedVersions.filter((tag) => tag !== version);
  const spec = {
    ...(!passing && { passing: true, allowedVersions: [version] }),
    ...(passing &&
      allowedVersions &&
      !allowedVersions.includes(version) && { allowedVersions: [...allowedVersions, version] }),
    ...(others.length < rejectedVersions.length && { rejectedVersions: others }),
  };
  const rejected = others.length < rejectedVersions.length ? [`${version} was rejected there`] : [];
  const isOnlyNew = passing && allowedVersions !== undefined && rejected.length === 0;
  return patched(gate, spec, `Approved ${version} at ${nameOf(gate)}`, because(reason), {
    concerns: rejected,
    brings: { version },
    ...(isOnlyNew && { jsonPatch: [{ op: 'add', path: '/spec/allowedVersions/-', value: version }] }),
  });
}

/** Gives one of several approvals that the version needs. The webhook removes the annotation and records the user. */
function giveApproval(gate: RolloutGate, version: string, reason: Reason): PlannedWrite {
  const annotations = { [APPROVE]: version, ...(reason && { [APPROVE_REASON]: reason }) };
  const known = gate.status?.approvals?.versions?.find((each) => each.version === version)?.count ?? 0;
  const text = `Approved ${version} at ${nameOf(gate)}, which requires ${gate.spec?.approvals?.required} and had ${known}`;
  return patching('RolloutGate', identityOf(gate), { metadata: { annotations } }, { text, brings: { version } });
}

/** Withdraws the user's own approval. */
export function withdraw(gate: RolloutGate, version: string): PlannedWrite {
  if (!gate.spec?.approvals)
    return wrong(`${nameOf(gate)} has no spec.approvals, so there is no approval to withdraw.`);
  const text = `Withdrew your approval of ${version} at ${nameOf(gate)}`;
  return patching('RolloutGate', identityOf(gate), { metadata: { annotations: { [UNAPPROVE]: version } } }, { text });
}

/** The version is never deployed while it is on the list, not even manually. */
export function reject(gate: RolloutGate, version: string, reason: Reason): PlannedWrite {
  const problem = tagProblem(version) ?? scheduleProblem(gate);
  if (problem) return wrong(problem);
  const { rejectedVersions = [] } = gate.spec ?? {};
  if (rejectedVersions.includes(version)) return nothing(`${nameOf(gate)} rejects ${version} already.`);
  const spec = { rejectedVersions: [...rejectedVersions, version] };
  const isOnlyNew = rejectedVersions.length > 0;
  return patched(gate, spec, `Rejected ${version} at ${nameOf(gate)}`, because(reason), {
    ...(isOnlyNew && { jsonPatch: [{ op: 'add', path: '/spec/rejectedVersions/-', value: version }] }),
  });
}

/** Rejects a version for a Rollout without a RolloutGate. */
export function rejectByNewGate(rollout: Rollout, version: string, reason: Reason): PlannedWrite {
  const problem = tagProblem(version);
  if (problem) return wrong(problem);
  const gate = newGate(rollout, `${rollout.metadata.name}-rejected`, { rejectedVersions: [version] }, reason);
  return creating('RolloutGate', gate, {
    text: `Rejected ${version} at the new ${named('RolloutGate', identityOf(gate))}`,
  });
}

/** Holds all versions of a Rollout that are not deployed manually. */
export function closeByNewGate(rollout: Rollout, name: string, reason: Reason): PlannedWrite {
  const gate = newGate(rollout, name, { passing: false }, reason);
  const text = `Closed the new ${named('RolloutGate', identityOf(gate))} of ${named('Rollout', identityOf(rollout))}`;
  return creating('RolloutGate', gate, { text });
}

function newGate(rollout: Rollout, name: string, spec: object, reason: Reason) {
  const of = identityOf(rollout);
  return {
    apiVersion: apiVersionOf(KINDS.RolloutGate),
    kind: 'RolloutGate',
    metadata: {
      namespace: of.namespace,
      name,
      labels: { [ROLLOUT_NAME_LABEL]: labelValue(of.name) },
      ...(reason && { annotations: because(reason) }),
    },
    spec: { rolloutRef: { name: of.name }, ...spec },
  };
}

/** Allows all versions, or none. */
export function setPassing(gate: RolloutGate, passing: boolean, reason: Reason): PlannedWrite {
  const problem = scheduleProblem(gate);
  if (problem) return wrong(problem);
  const is = passing ? 'open' : 'closed';
  if ((gate.spec?.passing ?? true) === passing)
    return nothing(`${nameOf(gate)} is ${is} already (spec.passing: ${passing}).`);
  const text = `${passing ? 'Opened' : 'Closed'} ${nameOf(gate)}`;
  return patched(gate, { passing }, text, because(reason));
}

function scheduleProblem(gate: RolloutGate): string | undefined {
  const schedule = scheduleOf(gate);
  return schedule && `${nameOf(gate)} is written by ${schedule}: change that, or deploy the version manually.`;
}

/**
 * The patch of a list. It replaces the whole list: a write from an older one must not drop entries that another
 * client has added meanwhile.
 */
function patched(
  gate: RolloutGate,
  spec: Record<string, unknown>,
  text: string,
  annotations: Record<string, string>,
  { concerns = [], brings, jsonPatch }: Partial<Pick<WriteRequest, 'concerns' | 'brings' | 'jsonPatch'>> = {},
): PlannedWrite {
  const body = { ...patchMetadata(annotations, gate), spec };
  const write = patching('RolloutGate', identityOf(gate), body, { text, concerns, ...(brings && { brings }) });
  return jsonPatch ? { ...write, jsonPatch } : write;
}

function nameOf(gate: RolloutGate): string {
  return named('RolloutGate', identityOf(gate));
}
