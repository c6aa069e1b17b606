/** The record for an auditor: who did what to which object, when and why. Plain data. */

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
  | 'Continued'
  | 'RuleChanged'
  | 'Created'
  | 'Deleted';

/**
 * `History`: status.history of a Rollout. `Object`: what the webhook recorded on an object.
 * `Event`: a Kubernetes Event. `AuditLog`: the API server's.
 */
export type AuditSource = 'History' | 'Object' | 'Event' | 'AuditLog';

/** What a deployment was to those before it: `Rollback` goes back to an older one, by itself or by a user. */
export type DeploymentChange = 'First' | 'Upgrade' | 'Rollback';

export interface AuditObject {
  kind: string;
  /** Empty for a cluster-scoped kind. */
  namespace: string;
  name: string;
}

export interface AuditRecord {
  /** RFC 3339. */
  time: string;
  action: AuditAction;
  object: AuditObject;
  /** The authenticated user. Absent for automation, and if the source names no user. */
  user?: string;
  /** The version that the act is about. */
  version?: string;
  /** Of a deployment. */
  change?: DeploymentChange;
  /** Of a deployment's image, if it is known. */
  digest?: string;
  reason?: string;
  /** What changed, or the message of the Event. */
  detail?: string;
  /** metadata.resourceVersion of the object as the act left it, if the source has it. */
  resourceVersion?: string;
  sources: AuditSource[];
}
