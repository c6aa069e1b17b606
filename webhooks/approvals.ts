/** Approvals in a write of a Gate or RolloutGate: who gives or takes back which. What counts is decided in core/approval. */
import type { AdmissionRequest } from '../api/admission.ts';
import type { KubeObject } from '../api/kubernetes.ts';
import type { WebhookCall } from '../api/ports.ts';
import type { ApprovalRule } from '../api/types.ts';
import {
  type Acceptance,
  type ApprovalRequest,
  acceptApproval,
  approvalRequestOf,
  droppedText,
  type Target,
  withChange,
} from '../core/approval/accept.ts';
import { isServiceAccount } from '../core/approval/persons.ts';
import { type ApprovalRecord, formatApprovals, parseApprovals } from '../core/approval/record.ts';
import { ruleProblem } from '../core/approval/verdict.ts';

/** The annotations of one kind. */
export interface ApprovalKeys {
  approve: string;
  unapprove: string;
  reason: string;
  record: string;
}

interface Approvable extends KubeObject<{ approvals?: ApprovalRule }, any> {}

export interface ApprovalsWritten {
  /** Of these annotations, as they are to be stored. */
  annotations: Record<string, string | undefined>;
  warnings: string[];
  /** Why the write is denied. */
  denial?: string;
}

/**
 * `revoked`: the stored record without what no longer counts. `targets` reads what a value may mean; asked only where somebody
 * approves. A ServiceAccount's write is never denied for it: that would stop a Git sync.
 */
export async function writeApprovals(
  object: Approvable,
  old: Approvable | undefined,
  keys: ApprovalKeys,
  { userInfo }: AdmissionRequest,
  { now }: WebhookCall,
  targets: (request: ApprovalRequest) => Promise<(value: string) => Target>,
  revoke: (record: ApprovalRecord) => ApprovalRecord = (record) => record,
): Promise<ApprovalsWritten> {
  const { username } = userInfo;
  const request = approvalRequestOf(object.metadata.annotations, old?.metadata.annotations, keys);
  const asks = request.approve !== undefined || request.unapprove !== undefined;
  const [rule, before] = [object.spec?.approvals, old?.spec?.approvals];
  const stored = revoke(parseApprovals(old?.metadata.annotations?.[keys.record]));
  const target = asks && rule ? await targets(request) : nothing;
  const accepted = acceptApproval(
    request,
    withChange(stored, rule, before, username, now),
    rule,
    username,
    target,
    now,
  );
  const annotations = {
    [keys.approve]: undefined,
    [keys.unapprove]: undefined,
    [keys.reason]: undefined,
    [keys.record]: formatApprovals(accepted.record),
  };
  const dropped = droppedText(object.metadata.annotations, old?.metadata.annotations, keys);
  const answered = answer(accepted, rule, before, username);
  return { ...answered, annotations, warnings: [...answered.warnings, ...dropped] };
}

const nothing = (): Target => ({ problem: 'nothing is asked for' });

function answer(
  { problem, warnings }: Acceptance,
  rule: ApprovalRule | undefined,
  before: ApprovalRule | undefined,
  username: string,
): Pick<ApprovalsWritten, 'warnings' | 'denial'> {
  const isNew = JSON.stringify(rule) !== JSON.stringify(before);
  const invalid = rule && isNew ? ruleProblem(rule) : undefined;
  if (invalid !== undefined) return { warnings, denial: `${invalid}.` };
  if (problem === undefined) return { warnings };
  return isServiceAccount(username)
    ? { warnings: [`not approved: ${problem}`, ...warnings] }
    : { warnings, denial: `Not approved: ${problem}.` };
}
