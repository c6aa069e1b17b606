/**
 * Admission of RolloutGates: writes the Rollout's name into a label, by which the Rollout's hook relates them, and
 * keeps the records of approvals and of list changes.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import { LISTED, REASON, ROLLOUT_NAME_LABEL } from '../../api/annotations.ts';
import { KINDS, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { Rollout, RolloutGate } from '../../api/types.ts';
import {
  type ApprovalTarget,
  acceptApproval,
  approvedValue,
  unknownVersion,
} from '../../core/approval/acceptApproval.ts';
import { APPROVAL_KEYS, recordedOn } from '../../core/approval/approvalRecord.ts';
import { annotateAll, labelAll } from '../../core/kube/annotate.ts';
import { identityOf, labelValue } from '../../core/kube/names.ts';
import { subjectOf } from '../../core/objectGates/gateTexts.ts';
import { formatListed, nextListEntries, parseListed } from '../../core/record/listRecord.ts';
import { hasDiscovered, requestersOf } from '../../core/rollout/evaluation/versionApprovals.ts';
import { recordDeletion } from '../approvalDeletion.ts';
import { type AdmissionDecision, type AdmissionHandler, allowed, denied, versionsOf } from '../response.ts';

export const mutateRolloutGate: AdmissionHandler = async (request, call): Promise<AdmissionDecision> => {
  const { object: sent, old, namespace } = versionsOf<RolloutGate>(request);
  if (!sent) return allowed();
  const write = { object: sent, old, keys: APPROVAL_KEYS.RolloutGate, by: request.userInfo.username, now: call.now };
  const record = recordedOn(old, write.keys);
  // An approval for one Rollout doesn't count for another.
  const isOtherRollout = sent.spec?.rolloutRef?.name !== old?.spec?.rolloutRef?.name;
  const before = isOtherRollout ? { ...record, given: [] } : record;
  const approved = approvedValue(write);
  const target = approved === undefined ? undefined : await readTarget(sent, approved, namespace, call);
  const written = acceptApproval(write, before, target);
  if (written.problem) return denied('invalid', `${subjectOf(sent)}: ${written.problem.text}`);
  const rollout = sent.spec?.rolloutRef?.name;
  const labelled = labelAll(sent, { [ROLLOUT_NAME_LABEL]: rollout ? labelValue(rollout) : undefined });
  const gate = annotateAll(labelled, { ...written.annotations, ...listAnnotations(sent, old, request, call) });
  const absent = isOtherRollout && rollout ? await absentRolloutWarnings(sent, { namespace, name: rollout }, call) : [];
  return { allowed: true, object: gate, warnings: [...written.warnings, ...absent] };
};

/** The Warning that the Rollout doesn't exist: a typo, or Git creates it later. None if the read fails. */
async function absentRolloutWarnings(
  gate: RolloutGate,
  ref: NamespacedName,
  { cluster }: WebhookCall,
): Promise<string[]> {
  const isAbsent = await cluster.get({ ...ROLLOUTS, ...ref }).then(
    (found) => !found,
    () => false,
  );
  return isAbsent ? [`${subjectOf(gate)} blocks nothing: Rollout '${ref.name}' does not exist`] : [];
}

/** The annotations that record the users who changed the lists. A schedule's own writes have no user. */
function listAnnotations(
  { metadata, spec }: RolloutGate,
  old: RolloutGate | undefined,
  { userInfo: { username: by } }: AdmissionRequest,
  { now, settings }: WebhookCall,
): Record<string, string | undefined> {
  const before = parseListed(old?.metadata.annotations?.[LISTED]);
  const given = metadata.annotations?.[REASON];
  // An unchanged reason belongs to an earlier write, which was made while the webhook was down.
  const reason = given === old?.metadata.annotations?.[REASON] ? undefined : given;
  const write = by === settings.metacontrollerUser ? undefined : { by, reason, now };
  return { [REASON]: undefined, [LISTED]: formatListed(nextListEntries(spec, old?.spec, before, write)) };
}

/**
 * Allows every deletion that RBAC allows, because a RolloutGate holds nothing. If it required approvals, its Rollout
 * reports the user.
 */
export const validateRolloutGate: AdmissionHandler = async (request, call): Promise<AdmissionDecision> => {
  const { object, old, namespace } = versionsOf<RolloutGate>(request);
  if (object || !old) return allowed();
  const about = async (stored: RolloutGate) => {
    const name = stored.spec?.rolloutRef?.name;
    const rollout = name ? await call.cluster.get<Rollout>({ ...ROLLOUTS, namespace, name }) : undefined;
    return {
      regarding: rollout ?? stored,
      involvedObjects: rollout ? [{ kind: KINDS.Rollout.kind, ...identityOf(rollout) }] : [],
    };
  };
  await recordDeletion('RolloutGate', old, about, request, call);
  return allowed();
};

/** The version that an approval is for, if the Rollout has discovered it. */
async function readTarget(
  { spec }: RolloutGate,
  version: string,
  namespace: string,
  { cluster }: WebhookCall,
): Promise<ApprovalTarget> {
  const name = spec?.rolloutRef?.name ?? '';
  const rollout = await cluster.get<Rollout>({ ...ROLLOUTS, namespace, name });
  if (!rollout) return { problem: `Rollout '${name}' does not exist` };
  if (!hasDiscovered(rollout, version)) return { problem: unknownVersion(version, [name]) };
  return { version, requesters: requestersOf(rollout, version).requesters };
}
