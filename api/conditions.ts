/** Condition types and reasons: exactly the strings that clients of the Go controller and of Flux's gating RFC read. */

/** On every kind. On a Gate: whether it is open; on a RolloutGate: whether it is passing. */
export const READY = 'Ready';

/** On Rollouts. */
export const RELEASES_UPDATED = 'ReleasesUpdated';
export const GATES_PASSING = 'GatesPassing';
export const DEPLOYMENT_BLOCKED = 'DeploymentBlocked';
export const BAKE_FAILURE_DISABLED = 'BakeFailureDisabled';
/** Present only while the selector matches HealthChecks that the Rollout isn't allowed to watch. */
export const HEALTH_CHECKS_LEFT_OUT = 'HealthChecksLeftOut';
export const ROLLED_BACK = 'RolledBack';
/** Present only while a deployment is rolling out or baking: what it waits for. */
export const PROGRESSING = 'Progressing';
/** Present only while a version waits for RolloutGates: which. */
export const WAITING_FOR_ROLLOUT_GATES = 'WaitingForRolloutGates';
/** Present only while a version waits for the Rollouts of `spec.after`, or these are in a cycle: which, and why. */
export const WAITING_FOR_ROLLOUTS = 'WaitingForRollouts';
/** Present only while a version waits for a slot of a RolloutBudget: which budget, and why. */
export const WAITING_FOR_BUDGET = 'WaitingForBudget';
/** Present only while `spec.wantedVersion` is set. */
export const PINNED = 'Pinned';
/** Present only while the selector matches no HealthCheck. */
export const HEALTH_CHECKS_MISSING = 'HealthChecksMissing';
/** Present only while the status is shortened so that it can be stored: what it leaves out. */
export const STATUS_SHORTENED = 'StatusShortened';

/** Present only if spec.targetRepository is set and has a release, or is to get one. */
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
