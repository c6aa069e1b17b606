/** The kinds of steps that a version may wait for: causes, steps, actions and rows of the board derive from it. */
import type { Blocker } from '../../api/types.ts';

interface StepKindRow {
  /** Types in `status.blockers`. */
  blockers: readonly Blocker['type'][];
  /** Reasons of conditions for this kind of step. */
  reasons: readonly string[];
  /** Set if the kind has a condition of its own besides DeploymentBlocked. */
  hasCondition?: true;
  /** Set for steps of the newest deployment, not of the waiting version. */
  ofDeployment?: true;
  /** Set if the track of the board shows a version at `gates` while this step blocks it. */
  isGateLike?: true;
  /** Set if automation waits for the step, and a manual deployment does not. */
  holdsAutomation?: true;
  /** The icon on the page: a name in ui/elements/Icon.tsx. */
  icon: string;
}

// biome-ignore format: a table
const TABLE = {
  /** spec.wantedVersion holds another version. */
  pin: { blockers: ['PinnedVersion'], reasons: [], hasCondition: true, isGateLike: true, icon: 'pin' },
  /** spec.minimumReleaseAge. */
  age: { blockers: ['MinimumAge'], reasons: ['ReleaseTooYoung'], icon: 'waits' },
  /** The version before has failed, and automation holds. */
  failure: { blockers: ['Failure'], reasons: ['PreviousDeploymentFailed'], isGateLike: true, holdsAutomation: true, icon: 'failed' },
  /** A Rollout of spec.after. */
  upstream: { blockers: ['Upstream'], reasons: ['NotSucceeded', 'RolloutNotFound'], hasCondition: true, isGateLike: true, holdsAutomation: true, icon: 'chevron' },
  rolloutGate: { blockers: ['RolloutGate', 'Approvals'], reasons: ['RolloutGatesBlocking', 'WaitingForApprovals'], isGateLike: true, holdsAutomation: true, icon: 'gate' },
  gate: { blockers: ['Gate'], reasons: ['GateClosed'], isGateLike: true, icon: 'closed' },
  budget: { blockers: ['Budget'], reasons: ['NoSlot', 'VersionBlocked', 'BudgetClosed'], hasCondition: true, isGateLike: true, holdsAutomation: true, icon: 'unknown' },
  /** A HealthCheck. */
  check: { blockers: ['Health'], reasons: ['UnhealthyHealthChecks', 'WaitingForHealth'], ofDeployment: true, isGateLike: true, holdsAutomation: true, icon: 'heart' },
  /** spec.targetRepository. */
  copy: { blockers: ['Copy'], reasons: ['WaitingForCopy'], icon: 'copy' },
  /** A Flux object that takes the version. */
  binding: { blockers: [], reasons: ['WaitingForApply'], ofDeployment: true, icon: 'object' },
  bake: { blockers: ['Bake'], reasons: ['BakeInProgress', 'BakeTimeFailed', 'Baking'], ofDeployment: true, icon: 'bake' },
} as const satisfies Record<string, StepKindRow>;

export type StepKind = keyof typeof TABLE;
type StepIcon = (typeof TABLE)[StepKind]['icon'];

export const STEP_KINDS: Readonly<Record<StepKind, StepKindRow & { icon: StepIcon }>> = TABLE;

const ROWS = Object.entries(STEP_KINDS) as [StepKind, StepKindRow][];

/** The kind for a reason; undefined for a reason of a newer version of this software. */
export function kindOfReason(reason: string): StepKind | undefined {
  return ROWS.find(([, { reasons }]) => reasons.includes(reason))?.[0];
}

/** Whether a condition besides DeploymentBlocked reports the blocker. A problem of the Rollout itself is in Ready. */
export function hasOwnCondition(type: Blocker['type']): boolean {
  return (
    type === 'Problem' ||
    type === 'RolloutGate' ||
    ROWS.some(([, row]) => row.hasCondition && row.blockers.includes(type))
  );
}
