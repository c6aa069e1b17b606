/**
 * The slots of a Rollout: it requests them in its own status, and starts a deployment only with a slot of each budget.
 * A request is used once: by a commit, or by its end. Both change the status, whose compare-and-swap lets only one
 * happen.
 */
import { READY } from '../../api/conditions.ts';
import { KINDS } from '../../api/kinds.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Blocker, Budget, GateSummary, Rollout, Slot, SlotRequest, VersionInfo } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { identityOf, uidFraction } from '../kube/names.ts';
import { nextRevision } from '../kube/statusRevision.ts';
import { earliestTime, formatTime, parseTime } from '../kube/time.ts';
import { countOf } from '../text/count.ts';
import { GRANTS_NOTHING } from './budgetReport.ts';
import { imageOf, isSameDigest, isSameImage } from './imageVersion.ts';
import { type Budgets, budgetKey, budgetTitle, kindOf } from './selectingBudgets.ts';

/** The most versions that a request offers. */
export const MAX_OFFERED_VERSIONS = 20;
/** The time for which a Rollout keeps one budget's slot while another budget grants none. */
const SLOT_KEPT_MS = 60_000;
/** The time for which a Rollout requests no slot after it has given its slots back. */
const REQUEST_PAUSE_MS = 30_000;
/** The interval of evaluations: no event shows that a budget was deleted, or no longer selects the Rollout. */
const REQUEUE_MS = 60_000;

/** The wait of a Rollout for slots. */
export interface SlotWait {
  /** The request to store; absent if no slot is requested. */
  request?: SlotRequest;
  /** The reason and the message of WaitingForBudget. */
  reason: string;
  text: string;
  blockers: Blocker[];
  gates: GateSummary[];
  requeueAt: EpochMs[];
}

/** A budget that selects the Rollout, and the slot that it has granted to the stored request. */
interface BudgetSlot {
  budget: Budget;
  slot: Slot | undefined;
}

/** The releases that the granted slots are for; all if no budget has granted a slot, or budgets were not read. */
export function grantedOnly(
  releases: readonly VersionInfo[],
  rollout: Rollout,
  budgets: Budgets | undefined,
): readonly VersionInfo[] {
  const slot = budgetSlots(rollout, budgets?.selecting ?? []).find(isGranted)?.slot;
  if (!slot) return releases;
  return releases.filter((release) => release.tag === slot.version && isSameDigest(release, slot));
}

/**
 * The wait of a Rollout for slots; undefined if it has all that it needs.
 * @param offered the versions that it could deploy now, newest first, at most MAX_OFFERED_VERSIONS
 * @param next the version that would be next
 */
export function slotWaitOf(
  rollout: Rollout,
  { selecting, problem }: Budgets,
  offered: readonly VersionInfo[],
  next: string,
  now: EpochMs,
): SlotWait | undefined {
  if (problem !== undefined) return problemWait(rollout, problem, next, now);
  const all = budgetSlots(rollout, selecting);
  const missing = all.filter((each) => !isGranted(each) || each.slot?.version !== next);
  if (missing.length === 0) return undefined;
  return {
    ...waitSentence(rollout, requestedNext(all), next),
    gates: all.map((each) => budgetSummary(each, next)),
    blockers: missing.map(({ budget }) => budgetBlocker(rollout, budget, next)),
    ...nextRequest(rollout, all, offered, now),
  };
}

/** The slots of a Rollout are requested one after another: the first budget that has granted none. */
function requestedNext(all: readonly BudgetSlot[]): Budget {
  return (all.find((each) => !isGranted(each)) ?? all[0]!).budget;
}

/**
 * The request to store. If it can't get every slot within a minute of the first, it returns them, and pauses so that
 * other Rollouts get them.
 */
function nextRequest(
  rollout: Rollout,
  all: readonly BudgetSlot[],
  offered: readonly VersionInfo[],
  now: EpochMs,
): { request: SlotRequest; requeueAt: EpochMs[] } {
  const stored = rollout.status?.slotRequest;
  const pausedUntil = parseTime(stored?.pausedUntil);
  // An end further ahead was stored before the clock was set back.
  if (stored && pausedUntil !== undefined && pausedUntil > now && pausedUntil <= now + REQUEST_PAUSE_MS) {
    return { request: stored, requeueAt: [pausedUntil] };
  }
  const fresh = { id: nextRevision(rollout), since: formatTime(now) };
  const returnAt = slotsReturnedAt(all);
  if (returnAt !== undefined && now >= returnAt) {
    const until = now + REQUEST_PAUSE_MS;
    return { request: { ...fresh, pausedUntil: formatTime(until) }, requeueAt: [until] };
  }
  const requeueAt = [requeueTime(rollout, now), ...(returnAt === undefined ? [] : [returnAt])];
  const versions = offered.map(({ tag, digest }) => ({ tag, ...(digest && { digest }) }));
  // A new request returns a slot that is being revoked.
  if (stored === undefined || stored.pausedUntil !== undefined || all.some(({ slot }) => slot?.revokedTime)) {
    return { request: { ...fresh, versions, budgets: [budgetKey(all[0]!.budget)] }, requeueAt };
  }
  const { id, since } = stored;
  const next = requestedNext(all);
  const budgets = all.flatMap(({ budget, slot }) => (slot || budget === next ? [budgetKey(budget)] : []));
  return { request: { id, since, versions, budgets }, requeueAt };
}

/** The wait while the budgets are unknown. */
function problemWait(rollout: Rollout, problem: string, next: string, now: EpochMs): SlotWait {
  const reason = 'TooManyBudgets';
  const text = `Version ${next} waits: ${problem}`;
  const blocker: Blocker = { type: 'Budget', effect: 'Blocks', reason, version: next };
  return { reason, text, blockers: [blocker], gates: [], requeueAt: [requeueTime(rollout, now)] };
}

/** The budgets with their slots, expired ones included. */
function budgetSlots({ metadata, status }: Rollout, selecting: readonly Budget[]): BudgetSlot[] {
  const request = status?.slotRequest?.id;
  const isOwn = (slot: Slot) => request !== undefined && slot.uid === metadata.uid && slot.request === request;
  return selecting.map((budget) => ({ budget, slot: budget.status?.slots?.find(isOwn) }));
}

function isGranted({ slot }: BudgetSlot): boolean {
  return slot?.state === 'Granted';
}

/** The time at which the Rollout returns its slots; undefined if none is granted, the past if their time is unknown. */
function slotsReturnedAt(all: readonly BudgetSlot[]): EpochMs | undefined {
  const granted = all.filter(isGranted);
  if (granted.length === 0) return undefined;
  return (earliestTime(granted.map(({ slot }) => parseTime(slot?.grantedTime))) ?? 0) + SLOT_KEPT_MS;
}

/** A time about a minute ahead, spread so that a budget's Rollouts aren't all evaluated at once. */
function requeueTime({ metadata }: Rollout, now: EpochMs): EpochMs {
  const jitter = uidFraction(metadata.uid);
  return now + REQUEUE_MS * (0.75 + jitter / 2);
}

function waitSentence(rollout: Rollout, budget: Budget, next: string): Pick<SlotWait, 'reason' | 'text'> {
  const why = whyClosed(budget, rollout, next);
  const text = `Version ${next} waits for a slot of ${budgetTitle(budget)}`;
  return why ? { reason: why.reason, text: `${text}: ${why.message}` } : { reason: 'NoSlot', text };
}

/** The blocker for a budget. A slot becomes free without a user; a version blocked after failures does not. */
function budgetBlocker(rollout: Rollout, budget: Budget, version: string): Blocker {
  const why = whyClosed(budget, rollout, version);
  return {
    type: 'Budget',
    effect: why ? 'Blocks' : 'Waits',
    reason: why?.reason ?? 'NoSlot',
    version,
    object: { kind: kindOf(budget), ...identityOf(budget) },
  };
}

/** Why the budget grants no slot. Numbers that change with each slot are only in the budget's status. */
function whyClosed({ status }: Budget, rollout: Rollout, tag: string) {
  const image = imageOf(rollout);
  const isSame = (known: { image: string; version: string; digest?: string }) =>
    isSameImage({ image, tag }, { image: known.image, tag: known.version, digest: known.digest });
  const blocked = status?.versions?.find((known) => known.blocked && isSame(known));
  if (blocked) return { reason: 'VersionBlocked', message: `it has failed in ${countOf(blocked.failed, 'Rollout')}` };
  const ready = findCondition(status?.conditions, READY);
  const isClosed = ready?.status === 'False' && GRANTS_NOTHING.includes(ready.reason);
  return isClosed ? { reason: 'BudgetClosed', message: ready.message } : undefined;
}

/** The entry of a budget in `status.gates`. Its versions are a list, because clients read only lists. */
function budgetSummary({ budget, slot }: BudgetSlot, next: string): GateSummary {
  const granted = slot?.state === 'Granted' ? slot : undefined;
  const kind = kindOf(budget);
  const message = granted ? `A slot for ${granted.version}` : `${next} waits for a slot of ${budgetTitle(budget)}`;
  return {
    kind,
    name: `${kind === KINDS.RolloutBudget.kind ? 'budget' : 'clusterbudget'}/${budget.metadata.name}`,
    passing: true,
    allowedVersions: granted ? [granted.version] : [],
    message,
  };
}
