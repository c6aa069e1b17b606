/** The kinds of steps that a version may wait for: causes, steps, actions and rows of the board derive from it. */
import type { Blocker } from '../../api/types.ts';

interface StepKindRow {
  /** Types in `status.blockers`. */
  blockers: readonly Blocker['type'][];
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
  pin: { blockers: ['PinnedVersion'], isGateLike: true, icon: 'pin' },
  /** spec.minimumReleaseAge. */
  age: { blockers: ['MinimumAge'], icon: 'waits' },
  /** The version before has failed, and automation holds. */
  failure: { blockers: ['Failure'], isGateLike: true, holdsAutomation: true, icon: 'failed' },
  /** A Rollout of spec.after. */
  upstream: { blockers: ['Upstream'], isGateLike: true, holdsAutomation: true, icon: 'chevron' },
  rolloutGate: { blockers: ['RolloutGate', 'Approvals'], isGateLike: true, holdsAutomation: true, icon: 'gate' },
  gate: { blockers: ['Gate'], isGateLike: true, icon: 'closed' },
  budget: { blockers: ['Budget'], isGateLike: true, holdsAutomation: true, icon: 'unknown' },
  /** A HealthCheck. */
  check: { blockers: ['Health'], ofDeployment: true, isGateLike: true, holdsAutomation: true, icon: 'heart' },
  /** spec.targetRepository. */
  copy: { blockers: ['Copy'], icon: 'copy' },
  /** A Flux object that takes the version. */
  binding: { blockers: [], ofDeployment: true, icon: 'object' },
  bake: { blockers: ['Bake'], ofDeployment: true, icon: 'bake' },
} as const satisfies Record<string, StepKindRow>;

export type StepKind = keyof typeof TABLE;
type StepIcon = (typeof TABLE)[StepKind]['icon'];

export const STEP_KINDS: Readonly<Record<StepKind, StepKindRow & { icon: StepIcon }>> = TABLE;
