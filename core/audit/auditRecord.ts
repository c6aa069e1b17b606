/** The record for an auditor: user, action, object, time and reason. */
import type { ObjectName } from '../../api/kubernetes.ts';

export type AuditAction =
  | 'Deployed'
  | 'Requested'
  | 'Pinned'
  | 'Unpinned'
  | 'Approved'
  | 'ApprovalWithdrawn'
  | 'Allowed'
  | 'Rejected'
  | 'Bypassed'
  | 'Opened'
  | 'Closed'
  | 'OpenPlanned'
  | 'ClosePlanned'
  | 'Continued'
  | 'RuleChanged'
  | 'Created'
  | 'Deleted';

/**
 * `History`: status.history of a Rollout. `Object`: a record of the webhook in an object's annotations or status.
 * `Event`: a Kubernetes Event. `AuditLog`: the API server's.
 */
export type AuditSource = 'History' | 'Object' | 'Event' | 'AuditLog';

/** The relation of a deployment to earlier ones. `Rollback`: to an older version, automatically or by a user. */
export type DeploymentChange = 'First' | 'Upgrade' | 'Rollback';

/** One act, for an auditor: who did what to which object, when and why. */
export interface AuditRecord {
  /** RFC 3339. For a plan that an object records, the planned time. */
  time: string;
  action: AuditAction;
  /** The namespace is empty for a cluster-scoped kind. */
  object: ObjectName;
  /** The authenticated user; absent for automation, or if the source names no user. */
  user?: string;
  /** The version that the action is about. */
  version?: string;
  /** Only for a deployment. */
  change?: DeploymentChange;
  /** Digest of the deployed image, if it is known. */
  digest?: string;
  reason?: string;
  /** The change, or the message of the Event. */
  detail?: string;
  /** The object's metadata.resourceVersion after the action; absent if the source lacks it. */
  resourceVersion?: string;
  sources: AuditSource[];
}
