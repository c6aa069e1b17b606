/** Condition types and reasons: exactly the strings that clients of the Go controller and of Flux's gating RFC read. */

/** On Rollouts; on Gates whether they are open, on RolloutGates whether they are passing. */
export const READY = 'Ready';

/** On Rollouts. */
export const RELEASES_UPDATED = 'ReleasesUpdated';
export const GATES_PASSING = 'GatesPassing';
export const DEPLOYMENT_BLOCKED = 'DeploymentBlocked';
export const BAKE_FAILURE_DISABLED = 'BakeFailureDisabled';
/** There only while the selector matches HealthChecks that may not be watched. */
export const HEALTH_CHECKS_LEFT_OUT = 'HealthChecksLeftOut';
export const ROLLED_BACK = 'RolledBack';
/** Only while a deployment is rolling out or baking: what it waits for. */
export const PROGRESSING = 'Progressing';
/** There only while a version waits for RolloutGates: which. */
export const WAITING_FOR_ROLLOUT_GATES = 'WaitingForRolloutGates';
/** There only while a version waits for the Rollouts of `spec.after`, or these are in a cycle: which, and why. */
export const WAITING_FOR_ROLLOUTS = 'WaitingForRollouts';
/** There only while a version waits for a slot of a RolloutBudget: whose, and why. */
export const WAITING_FOR_BUDGET = 'WaitingForBudget';
/** There only while `spec.wantedVersion` is set. */
export const PINNED = 'Pinned';
/** There only while the selector matches no HealthCheck at all. */
export const HEALTH_CHECKS_MISSING = 'HealthChecksMissing';
/** Only while the newest deployment is a first one that RolloutGates would have held later. */
export const FIRST_DEPLOYMENT_NOT_GATED = 'FirstDeploymentNotGated';

/** There only while the status leaves something out so that it can be stored: what. */
export const STATUS_SHORTENED = 'StatusShortened';

/** There only if spec.targetRepository is set and has, or is to have, a release. */
export const COPIED = 'Copied';

/** On Gates. */
export const OPENED = 'Opened';
export const STALLED = 'Stalled';
/** Whether a Gate with `spec.receiver` can take calls. */
export const RECEIVER_READY = 'ReceiverReady';

/** On Flux syncs and on Flux sources. */
export const APPROVED = 'Approved';
export const BLOCKED = 'Blocked';
export const GATE_CLOSED = 'GateClosed';
export const GATES_OPEN = 'GatesOpen';
