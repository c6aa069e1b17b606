/**
 * A Rollout's side of its budgets: it starts a deployment only with a slot of each, and requests slots
 * in its own status.
 * A request is used once, by a commit or by its end. Both change the status, whose compare-and-swap
 * lets only one happen.
 */
import { WAITING_FOR_BUDGET } from '../../api/conditions.ts';
import { KINDS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Blocker, Budget, GateSummary, Rollout, Slot, SlotRequest, VersionInfo } from '../../api/types.ts';
import { type NewCondition, trueCondition } from '../kube/conditions.ts';
import { identityOf, shortHash } from '../kube/names.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { nextRevision } from '../status/revision.ts';
import { rolloutCount } from './budgetReport.ts';
import { imageOf, isSameDigest, isSameImage } from './imageVersion.ts';
import { type Budgets, budgetKey, budgetTitle, kindOf } from './selectingBudgets.ts';

/** How many versions a request offers. */
export const OFFERED = 20;
/**
 * How long a Rollout keeps one budget's slot while another budget grants none, and how long it then requests no slot.
 */
const HELD_FOR_OTHERS_MS = 60_000;
const PAUSE_MS = 30_000;
/**
 * When to evaluate again without an event: a budget that was deleted, or no longer selects the Rollout,
 * does not wake it.
 */
const REQUEUE_MS = 60_000;

/** The wait for budgets that keeps a Rollout from starting. */
export interface SlotWait {
  /** The request to store; absent if no slot is requested. */
  request?: SlotRequest;
  condition: NewCondition;
  blockers: Blocker[];
  gates: GateSummary[];
  requeueAt: EpochMs[];
}

/** The first slot that was granted; undefined if none is, or budgets were not read. */
export function grantedSlot(rollout: Rollout, budgets: Budgets | undefined): Slot | undefined {
  return slotsOf(rollout, budgets).find((slot) => slot?.state === 'Granted');
}

export function isGranted(release: VersionInfo, { version, digest }: Slot): boolean {
  return release.tag === version && isSameDigest(release, { digest });
}

/**
 * The wait of a Rollout for slots. `offered`: the versions that it could deploy now, newest first. `next`: the one
 * that would be next.
 */
export function slotWaitOf(
  rollout: Rollout,
  { selecting, problem }: Budgets,
  offered: readonly VersionInfo[],
  next: string,
  now: EpochMs,
): SlotWait | undefined {
  if (problem !== undefined) {
    const condition = trueCondition(
      WAITING_FOR_BUDGET,
      'TooManyBudgets',
      `Version ${next} waits: of the RolloutBudgets, ${problem}`,
    );
    const blockers = [{ ...OF_BUDGET, effect: 'Blocks' as const, reason: condition.reason, version: next }];
    return { condition, blockers, gates: [], requeueAt: [requeueTime(rollout, now)] };
  }
  if (selecting.length === 0) return undefined;
  const stored = rollout.status?.slotRequest;
  const slots = slotsOf(rollout, { selecting });
  const granted = slots.filter((slot) => slot?.state === 'Granted');
  if (granted.length === selecting.length && granted.every((slot) => slot?.version === next)) return undefined;

  const requested = selecting[slots.findIndex((slot) => slot?.state !== 'Granted')] ?? selecting[0]!;
  const shown = {
    gates: selecting.map((budget, index) => summary(budget, slots[index], next)),
    blockers: selecting.flatMap((budget, index) =>
      slots[index]?.state === 'Granted' && slots[index]?.version === next ? [] : [blocker(rollout, budget, next)],
    ),
  };
  const pausedUntil = parseTime(stored?.pausedUntil);
  // A pause that ends later than that was stored before the clock was set back.
  if (stored && pausedUntil !== undefined && pausedUntil > now && pausedUntil <= now + PAUSE_MS) {
    return { ...shown, request: stored, condition: waits(rollout, requested, next), requeueAt: [pausedUntil] };
  }
  const givesUpAt = granted.length === 0 ? undefined : sinceOf(granted) + HELD_FOR_OTHERS_MS;
  const fresh = { id: nextRevision(rollout), since: formatTime(now) };
  if (givesUpAt !== undefined && now >= givesUpAt) {
    const until = now + PAUSE_MS;
    const request = { ...fresh, pausedUntil: formatTime(until) };
    return { ...shown, request, condition: waits(rollout, requested, next), requeueAt: [until] };
  }
  // A revoked slot is released by another request.
  const isOver = stored === undefined || stored.pausedUntil !== undefined || slots.some((slot) => slot?.revokedTime);
  const { id, since } = isOver ? fresh : stored;
  const ask = isOver ? selecting.slice(0, 1) : selecting.filter((budget, i) => slots[i] || budget === requested);
  const request = {
    id,
    since,
    versions: offered.slice(0, OFFERED).map(({ tag, digest }) => ({ tag, ...(digest && { digest }) })),
    budgets: ask.map(budgetKey),
  };
  const requeueAt = [requeueTime(rollout, now), ...(givesUpAt === undefined ? [] : [givesUpAt])];
  return { ...shown, request, condition: waits(rollout, requested, next), requeueAt };
}

/** The slot of each budget that was granted to the stored request, even if it has expired. */
function slotsOf(rollout: Rollout, budgets: Budgets | undefined): (Slot | undefined)[] {
  const request = rollout.status?.slotRequest?.id;
  if (request === undefined) return (budgets?.selecting ?? []).map(() => undefined);
  const isIts = (slot: Slot) => slot.uid === rollout.metadata.uid && slot.request === request;
  return (budgets?.selecting ?? []).map(({ status }) => status?.slots?.find(isIts));
}

function sinceOf(granted: readonly (Slot | undefined)[]): EpochMs {
  const times = granted.flatMap((slot) => parseTime(slot?.grantedTime) ?? []);
  return times.length > 0 ? times.reduce((a, b) => Math.min(a, b)) : 0;
}

/** In about a minute, spread so that the Rollouts of a budget are not all evaluated at once. */
function requeueTime({ metadata }: Rollout, now: EpochMs): EpochMs {
  const jitter = Number.parseInt(shortHash(metadata.uid ?? '').slice(0, 4), 16) / 0xffff;
  return now + REQUEUE_MS * (0.75 + jitter / 2);
}

function waits(rollout: Rollout, budget: Budget, next: string): NewCondition {
  const why = whyClosed(budget, rollout, next);
  const what = `Version ${next} waits for a slot of ${budgetTitle(budget)}`;
  return why
    ? trueCondition(WAITING_FOR_BUDGET, why.reason, `${what}: ${why.message}`)
    : trueCondition(WAITING_FOR_BUDGET, 'NoSlot', what);
}

const OF_BUDGET = { type: 'Budget' } as const;

/**
 * The blocker for a budget. A slot becomes free without action; a hold after failures, or a mistake in
 * a budget, does not.
 */
function blocker(rollout: Rollout, budget: Budget, version: string): Blocker {
  const why = whyClosed(budget, rollout, version);
  return {
    ...OF_BUDGET,
    effect: why ? 'Blocks' : 'Waits',
    reason: why?.reason ?? 'NoSlot',
    version,
    object: { kind: kindOf(budget), ...identityOf(budget) },
  };
}

/** Why the budget grants no slot. Without numbers that change with each slot: the budget's status has those. */
function whyClosed({ status }: Budget, rollout: Rollout, tag: string) {
  const image = imageOf(rollout);
  const isIt = (known: { image: string; version: string; digest?: string }) =>
    isSameImage({ image, tag }, { image: known.image, tag: known.version, digest: known.digest });
  const held = status?.versions?.find((known) => known.held && isIt(known));
  if (held) return { reason: 'VersionHeld', message: `it has failed in ${rolloutCount(held.failed)}` };
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const isClosed = ready?.status === 'False' && ['TooManyRollouts', 'Closed'].includes(ready.reason);
  return isClosed ? { reason: 'BudgetClosed', message: ready.message } : undefined;
}

/** A budget as a gate, for clients that read only RolloutGates: it has a list of allowed versions. */
function summary(budget: Budget, slot: Slot | undefined, next: string): GateSummary {
  const isGranted = slot?.state === 'Granted';
  const kind = kindOf(budget);
  const message = isGranted ? `A slot for ${slot.version}` : `${next} waits for a slot of ${budgetTitle(budget)}`;
  return {
    kind,
    name: `${kind === KINDS.RolloutBudget.kind ? 'budget' : 'clusterbudget'}/${budget.metadata.name}`,
    passing: true,
    allowedVersions: isGranted ? [slot.version] : [],
    message,
  };
}
