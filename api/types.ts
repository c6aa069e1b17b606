/** Names for the parts of the generated types. */
import type { ClusterRolloutBudget } from './generated/ClusterRolloutBudget.ts';
import type { FluxBinding } from './generated/FluxBinding.ts';
import type { Gate } from './generated/Gate.ts';
import type { Rollout } from './generated/Rollout.ts';
import type { RolloutBudget } from './generated/RolloutBudget.ts';
import type { RolloutGate } from './generated/RolloutGate.ts';

export type { ClusterRolloutBudget } from './generated/ClusterRolloutBudget.ts';
export type { ClusterRolloutSchedule } from './generated/ClusterRolloutSchedule.ts';
export type { FluxBinding } from './generated/FluxBinding.ts';
export type { Gate } from './generated/Gate.ts';
export type { HealthCheck } from './generated/HealthCheck.ts';
export type { MetricProvider } from './generated/MetricProvider.ts';
export type { Rollout } from './generated/Rollout.ts';
export type { RolloutBudget } from './generated/RolloutBudget.ts';
export type { RolloutGate } from './generated/RolloutGate.ts';
export type { RolloutSchedule } from './generated/RolloutSchedule.ts';

export type RolloutSpec = NonNullable<Rollout['spec']>;
export type RolloutStatus = NonNullable<Rollout['status']>;
export type HistoryEntry = NonNullable<RolloutStatus['history']>[number];
export type VersionInfo = HistoryEntry['version'];
/** The slot that a Rollout requests from RolloutBudgets. */
export type SlotRequest = NonNullable<RolloutStatus['slotRequest']>;
/** The authors of a release, for approvals that exclude them. */
export type ReleaseAuthors = NonNullable<RolloutStatus['releaseAuthors']>[number];
/** One reason why a version waits. */
export type Blocker = NonNullable<RolloutStatus['blockers']>[number];
export type GateSummary = NonNullable<RolloutStatus['gates']>[number];
export type FluxBindingSpec = NonNullable<FluxBinding['spec']>;
export type FluxBindingStatus = NonNullable<FluxBinding['status']>;
export type ManagedField = NonNullable<FluxBindingSpec['fields']>[number];
/** The deployment of a Rollout that an object carries. */
export type DeploymentRef = NonNullable<NonNullable<FluxBindingSpec['observed']>['deployed']>[number];
export type GateStatus = NonNullable<Gate['status']>;
/** The approvals that a version needs at a RolloutGate or Gate. */
export type ApprovalRule = NonNullable<NonNullable<RolloutGate['spec']>['approvals']>;
export type ApprovalsStatus = NonNullable<NonNullable<RolloutGate['status']>['approvals']>;
/** A budget of either kind. Only the namespace distinguishes them in code. */
export type Budget = RolloutBudget | ClusterRolloutBudget;
export type BudgetStatus = NonNullable<Budget['status']>;
export type Slot = NonNullable<BudgetStatus['slots']>[number];
export type BudgetVersion = NonNullable<BudgetStatus['versions']>[number];
export type Wave = NonNullable<BudgetVersion['waves']>[number];
