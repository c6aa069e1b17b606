/** Which version comes next, and whether it may come now. */
import type { HistoryEntry, Rollout, VersionInfo } from '../../../api/types.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { isBaking } from '../deployment/bake.ts';
import type { Rollback, StepBack } from '../deployment/rollback.ts';
import { isUnwatched } from '../deployment/unwatched.ts';
import type { GateVerdict } from './rolloutGates.ts';

export interface Choice {
  /** spec.initialVersion. */
  initialVersion: string | undefined;
  wantedVersion: string | undefined;
  /** The pending force-deploy request. */
  forceDeploy: string | undefined;
  available: readonly VersionInfo[];
  verdict: GateVerdict;
  head: HistoryEntry | undefined;
  rollback: Rollback | undefined;
  /** Whether RolloutGates hold the first deployment too. */
  gateFirst: boolean;
  /** Whether the slots that budgets have granted are for this release; absent where none has granted one. */
  isGranted?: ((release: VersionInfo) => boolean) | undefined;
  /** The gate that rejects a tag. */
  rejectedBy: (tag: string) => string | undefined;
}

export interface Selection {
  manual: boolean;
  /** `next` is what ran before there was a Rollout. */
  initial?: true;
  /** `next` is a rollback. */
  back?: StepBack;
  /** The next version; undefined when there is none, or when it is deployed already. */
  next?: string;
  /** Why what is asked for cannot be done. */
  problem?: string;
  /** The RolloutGate that rejects it, where one does. */
  rejectedBy?: string;
}

/** A history begins with initialVersion; then wantedVersion before force-deploy before a rollback before the newest candidate that the gates allow. */
export function select(choice: Choice): Selection {
  const { initialVersion, wantedVersion, forceDeploy, head, rollback } = choice;
  if (head === undefined && initialVersion) {
    const problem = problemWith(initialVersion, { ...choice, wantedVersion: initialVersion });
    return problem
      ? { manual: false, initial: true, ...problem }
      : { manual: false, initial: true, next: initialVersion };
  }
  const requested = wantedVersion || forceDeploy;
  if (!requested && rollback && !rollback.stays) return { manual: false, back: rollback, next: rollback.to.tag };
  if (!requested && rollback?.stays && rollback.until !== undefined) return { manual: false };
  if (!requested) {
    const [newest] = choices(choice);
    return { manual: false, ...(newest && { next: newest.tag }) };
  }
  const problem = problemWith(requested, choice);
  if (problem) return { manual: true, ...problem };
  return requested === head?.version.tag ? { manual: true } : { manual: true, next: requested };
}

/** What automation may deploy now, newest first. */
export function choices({
  head,
  gateFirst,
  verdict,
  isGranted = () => true,
}: Pick<Choice, 'head' | 'gateFirst' | 'verdict' | 'isGranted'>): VersionInfo[] {
  const pool = head === undefined && !gateFirst && verdict.gated.length === 0 ? verdict.promoted : verdict.gated;
  return pool.filter(isGranted);
}

function problemWith(
  tag: string,
  { wantedVersion, available, rejectedBy, head }: Choice,
): Pick<Selection, 'problem' | 'rejectedBy'> | undefined {
  if (!wantedVersion && !available.some((release) => release.tag === tag)) {
    return { problem: `force deploy version ${tag} is not in available releases` };
  }
  if (!isLegalTag(tag)) return { problem: `version ${JSON.stringify(tag)} is not a legal tag and is not deployed` };
  const gate = tag === head?.version.tag ? undefined : rejectedBy(tag);
  if (gate === undefined) return undefined;
  return { problem: `version ${tag} is rejected by RolloutGate '${gate}' and is not deployed`, rejectedBy: gate };
}

/** RolloutGates, stages, health, a running bake and a missing ImagePolicy hold neither a person's choice nor a rollback to what has passed them; of these only RolloutGates hold what runs already. */
export function isForward({ manual, back, initial }: Selection): boolean {
  return !manual && back === undefined && !initial;
}

export interface Obstacles {
  /** A bake that has not ended. What does not bake gives way to the next version before Flux has applied it. */
  bake: boolean;
  /** A failure that automation holds after, and that nobody has dealt with. */
  failure: boolean;
  /** RolloutGates, and stages. */
  gates: boolean;
  /** RolloutGates, where what ran before is to be the first. */
  initial: boolean;
  health: boolean;
}

/** What keeps an automatic deployment from being made. Health does not hold the first one; RolloutGates do where `gateFirst`; stages do. */
export function obstacles(
  rollout: Rollout,
  head: HistoryEntry | undefined,
  verdict: GateVerdict,
  { unhealthy, holds, unblocked }: { unhealthy: boolean; holds: boolean; unblocked: boolean },
  { gateFirst, holdsInitial }: { gateFirst: boolean; holdsInitial: boolean },
): Obstacles {
  const isGated = gateFirst || head !== undefined;
  const gates = isGated ? !verdict.passing || verdict.gated.length === 0 : verdict.promoted.length === 0;
  return {
    bake: head !== undefined && isBaking(head) && !isUnwatched(head, rollout),
    failure: holds && !unblocked,
    gates,
    initial: holdsInitial,
    health: head !== undefined && unhealthy,
  };
}
