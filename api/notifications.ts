/** `source.component` of our Events: the Go original's, so that dashboards go on. */
export const EVENT_COMPONENT = 'rollout-controller';

/**
 * Of which Events people are told by Flux's Alerts, and how loud: by reason, and with what severity. An Alert cannot filter by reason, so that
 * what needs nobody's attention (a bake that begins, a turn that is waited for) is not sent at all; it is an Event like the others.
 */
export type Severity = 'info' | 'error';

export const NOTIFIED: Readonly<Record<string, Severity>> = {
  // Of a Rollout.
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
  // Of a Gate, and of a Rollout whose next version waits for one.
  GateClosed: 'info',
  GateOpened: 'info',
  OpenRequested: 'info',
  CloseRequested: 'info',
  OpenPlanned: 'info',
  ClosePlanned: 'info',
  GateBypassed: 'error',
  // Of a RolloutGate, and of a Gate that asks for approvals.
  Approved: 'info',
  ApprovalExpired: 'info',
  ApprovalWithdrawn: 'info',
  ApprovalsChanged: 'error',
  // Of a RolloutBudget.
  VersionHeld: 'error',
  VersionContinued: 'info',
  WaveDone: 'info',
  SlotFreed: 'error',
  SlotOverdue: 'error',
};
