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

/** The releases that the granted slots are for; all if no budget has granted a slot, or budgets were not read. */
export function grantedOnly(
  releases: readonly VersionInfo[],
  rollout: Rollout,
  budgets: Budgets | undefined,
): readonly VersionInfo[] {
  const slot = slotsOf(rollout, budgets).find((each) => each?.state === 'Granted');
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
  if (selecting.length === 0) return undefined;
  const stored = rollout.status?.slotRequest;
  const slots = slotsOf(rollout, { selecting });
  const granted = slots.filter((slot) => slot?.state === 'Granted');
  if (granted.length === selecting.length && granted.every((slot) => slot?.version === next)) return undefined;

  const requested = selecting[slots.findIndex((slot) => slot?.state !== 'Granted')] ?? selecting[0]!;
  const wait = {
    ...waitSentence(rollout, requested, next),
    gates: selecting.map((budget, index) => budgetSummary(budget, slots[index], next)),
    blockers: selecting.flatMap((budget, index) =>
      slots[index]?.state === 'Granted' && slots[index]?.version === next ? [] : [budgetBlocker(rollout, budget, next)],
    ),
  };
  const pausedUntil = parseTime(stored?.pausedUntil);
  // An end further ahead was stored before the clock was set back.
  if (stored && pausedUntil !== undefined && pausedUntil > now && pausedUntil <= now + REQUEST_PAUSE_MS) {
    return { ...wait, request: stored, requeueAt: [pausedUntil] };
  }
  const releaseAt = granted.length === 0 ? undefined : firstGrant(granted) + SLOT_KEPT_MS;
  const fresh = { id: nextRevision(rollout), since: formatTime(now) };
  if (releaseAt !== undefined && now >= releaseAt) {
    const until = now + REQUEST_PAUSE_MS;
    return { ...wait, request: { ...fresh, pausedUntil: formatTime(until) }, requeueAt: [until] };
  }
  // A new request releases a revoked slot.
  const isOver = stored === undefined || stored.pausedUntil !== undefined || slots.some((slot) => slot?.revokedTime);
  const { id, since } = isOver ? fresh : stored;
  const budgets = isOver ? selecting.slice(0, 1) : selecting.filter((budget, i) => slots[i] || budget === requested);
  const request = {
    id,
    since,
    versions: offered.map(({ tag, digest }) => ({ tag, ...(digest && { digest }) })),
    budgets: budgets.map(budgetKey),
  };
  const requeueAt = [requeueTime(rollout, now), ...(releaseAt === undefined ? [] : [releaseAt])];
  return { ...wait, request, requeueAt };
}

/** The wait while the budgets are unknown. */
function problemWait(rollout: Rollout, problem: string, next: string, now: EpochMs): SlotWait {
  const reason = 'TooManyBudgets';
  const text = `Version ${next} waits: ${problem}`;
  const blocker: Blocker = { type: 'Budget', effect: 'Blocks', reason, version: next };
  return { reason, text, blockers: [blocker], gates: [], requeueAt: [requeueTime(rollout, now)] };
}

/** The slot of each budget that was granted to the stored request, even if it has expired. */
function slotsOf(rollout: Rollout, budgets: Budgets | undefined): (Slot | undefined)[] {
  const request = rollout.status?.slotRequest?.id;
  const isOwn = (slot: Slot) => request !== undefined && slot.uid === rollout.metadata.uid && slot.request === request;
  return (budgets?.selecting ?? []).map(({ status }) => status?.slots?.find(isOwn));
}

/** The time of the first grant; 0 if it is unknown. */
function firstGrant(granted: readonly (Slot | undefined)[]): EpochMs {
  return earliestTime(granted.map((slot) => parseTime(slot?.grantedTime))) ?? 0;
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
function budgetSummary(budget: Budget, slot: Slot | undefined, next: string): GateSummary {
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
