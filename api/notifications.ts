/** `source.component` of our Events: the Go original's, so that dashboards continue to work. */
export const EVENT_COMPONENT = 'rollout-controller';

export type Severity = 'info' | 'error';

/**
 * The Events that are forwarded to Flux's Alerts, by reason, each with its severity. An Alert can't filter by reason,
 * so an Event that needs no attention (a bake starts, a Rollout waits for a slot) is not forwarded.
 */
export const NOTIFIED: Readonly<Record<string, Severity>> = {
  // Rollouts.
  DeploymentSucceeded: 'info',
  DeploymentAdopted: 'info',
  DeploymentApplied: 'info',
  BakeTimePassed: 'info',
  BakeTimeCancelled: 'info',
  BakeTimeFailed: 'error',
  AutomaticRollback: 'error',
  RetryRequested: 'info',
  HealthCheckBlocking: 'error',
  WaitingForApprovals: 'info',
  WaitingForRolloutGates: 'info',
  GatesBypassed: 'info',
  WaitingForRollouts: 'error',
  WaitingForBudget: 'error',
  ReleaseRejected: 'info',
  ReleaseWithdrawn: 'info',
  ReleaseCopied: 'info',
  CopyFailed: 'error',
  RolloutFailed: 'error',
  // Gates, and Rollouts whose next version waits for one.
  GateClosed: 'info',
  GateOpened: 'info',
  OpenRequested: 'info',
  CloseRequested: 'info',
  OpenPlanned: 'info',
  ClosePlanned: 'info',
  GateBypassed: 'error',
  // RolloutGates, and Gates that require approvals.
  Approved: 'info',
  ApprovalExpired: 'info',
  ApprovalWithdrawn: 'info',
  ApprovalsChanged: 'error',
  // RolloutBudgets.
  VersionBlocked: 'error',
  VersionContinued: 'info',
  WaveDone: 'info',
  SlotFreed: 'error',
  SlotOverdue: 'error',
};
