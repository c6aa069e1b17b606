/** Approvals in a write of a Gate or RolloutGate: reads what core/approval needs, and stores what it accepts. */
import type { AdmissionRequest } from '../api/admission.ts';
import type { AnyObject, ObjectName } from '../api/kubernetes.ts';
import type { ResourceRef, WebhookCall } from '../api/ports.ts';
import type { ApprovalRule } from '../api/types.ts';
import {
  type ApprovalAcceptance,
  type ApprovalTarget,
  acceptApproval,
  approvalRequestOf,
  droppedTextWarnings,
} from '../core/approval/acceptApproval.ts';
import {
  type ApprovalKeys,
  type ApprovalRecord,
  formatApprovals,
  recordedOn,
} from '../core/approval/approvalRecord.ts';
import { ruleProblem } from '../core/approval/approvalVerdict.ts';
import { type Approvable, deletionEvent, ruleChangeEvents, withChange } from '../core/approval/ruleChange.ts';
import { eventRecord } from '../core/kube/events.ts';
import { isServiceAccount, isSystemDeleter } from '../core/kube/users.ts';

export interface ApprovalsWritten {
  /** The annotations of the keys, as they are to be stored. */
  annotations: Record<string, string | undefined>;
  warnings: string[];
  /** Why the write is denied. */
  problem?: string;
}

/**
 * The approvals of the object after the write.
 * A ServiceAccount's write is never denied for them: that would stop a Git sync.
 * @param findTarget finds what the value of `keys.approve` approves. Not called for a withdrawal, which must not fail
 * with a read.
 * @param revoke removes approvals that no longer count from the stored record
 */
export async function writeApprovals(
  object: Approvable,
  old: Approvable | undefined,
  keys: ApprovalKeys,
  { userInfo }: AdmissionRequest,
  { now }: WebhookCall,
  findTarget: (approve: string) => Promise<ApprovalTarget>,
  revoke: (record: ApprovalRecord) => ApprovalRecord = (record) => record,
): Promise<ApprovalsWritten> {
  const { username } = userInfo;
  const request = approvalRequestOf(object.metadata.annotations, old?.metadata.annotations, keys);
  const [rule, before] = [object.spec?.approvals, old?.spec?.approvals];
  const stored = revoke(recordedOn(old, keys));
  const target = request.approve !== undefined && rule ? await findTarget(request.approve) : undefined;
  const progress = old?.status?.approvals?.progress;
  const noted = old ? withChange(stored, object, old, { by: username, progress, now }) : stored;
  const accepted = acceptApproval(request, noted, rule, username, target, now);
  const annotations = {
    [keys.approve]: undefined,
    [keys.unapprove]: undefined,
    [keys.reason]: undefined,
    [keys.record]: formatApprovals(accepted.record),
  };
  const dropped = droppedTextWarnings(object.metadata.annotations, old?.metadata.annotations, keys);
  const { warnings, problem } = acceptanceTexts(accepted, rule, before, username);
  return { annotations, warnings: [...warnings, ...dropped], ...(problem !== undefined && { problem }) };
}

/** The Warnings for the approver, and why the write is denied. */
function acceptanceTexts(
  { problem, isWithdrawalProblem, warnings }: ApprovalAcceptance,
  rule: ApprovalRule | undefined,
  before: ApprovalRule | undefined,
  username: string,
): Pick<ApprovalsWritten, 'warnings' | 'problem'> {
  const isNew = JSON.stringify(rule) !== JSON.stringify(before);
  const invalid = rule && isNew ? ruleProblem(rule) : undefined;
  if (invalid !== undefined) return { warnings, problem: `${invalid}.` };
  if (problem === undefined) return { warnings };
  const verb = isWithdrawalProblem ? 'withdrawn' : 'approved';
  return isServiceAccount(username)
    ? { warnings: [`not ${verb}: ${problem}`, ...warnings] }
    : { warnings, problem: `Not ${verb}: ${problem}.` };
}

/**
 * Records the deletion of a Gate or RolloutGate with approvals, with its user, and the last changes of its rule, which
 * its hook might not have seen: as Events, once the object is gone. Not in a dry run.
 * All values come from the stored object: any client may send a request about any object.
 * @param about reads the object of the deletion's Event, and the objects that report it
 */
export async function recordDeletion<Stored extends Approvable>(
  uid: string | undefined,
  ref: ResourceRef & { name: string },
  keys: ApprovalKeys,
  about: (stored: Stored) => Promise<{ regarding: AnyObject; involvedObjects: readonly ObjectName[] }>,
  { dryRun, userInfo }: AdmissionRequest,
  { cluster, events, now, settings }: WebhookCall,
): Promise<void> {
  if (dryRun || isSystemDeleter(userInfo.username)) return;
  const stored = await cluster.get<Stored>(ref);
  if (!stored || stored.metadata.uid !== uid) return;
  const { approvals } = stored.spec ?? {};
  const before = stored.status?.approvals;
  const kept = recordedOn(stored, keys);
  const changes = ruleChangeEvents(before, before?.required, kept, now).map((event) => eventRecord(event, stored, now));
  if (!approvals && changes.length === 0) return;
  const by = settings.authenticatesCallers ? userInfo.username : undefined;
  const { regarding, involvedObjects } = await about(stored);
  const what = `${stored.kind} '${stored.metadata.name}'`;
  const deletion = approvals && deletionEvent(what, uid, approvals, before, by);
  const records = deletion ? [...changes, eventRecord(deletion, regarding, now)] : changes;
  for (const each of records) events.recordWhen({ ...each, involvedObjects }, { object: ref, uid, gone: true });
}
