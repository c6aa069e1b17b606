/**
 * The plan of a RolloutBudget: it frees slots that have ended, and grants free ones, in the budget's status, which
 * nothing else writes. Planning again on the result changes nothing.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Budget, BudgetStatus, BudgetVersion, Rollout, Slot, Wave } from '../../api/types.ts';
import { memoize } from '../collection/memo.ts';
import { setCondition } from '../kube/conditions.ts';
import type { NewEvent } from '../kube/events.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { withRevision } from '../kube/statusRevision.ts';
import { formatTime, parseTime, startSeconds } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { readBudget } from './budgetConfig.ts';
import { blockedEvents, continueEvent, readyOf, slotEvents, waveEvent } from './budgetReport.ts';
import { recallVersions, versionOf } from './budgetVersions.ts';
import { pendingContinue } from './continueRequest.ts';
import { fleetOf, type Member } from './fleet.ts';
import { type ImageVersion, isOneOf, isSameImage, versionKey } from './imageVersion.ts';
import { budgetKey } from './selectingBudgets.ts';
import {
  countsAgainstLimit,
  evaluateSlot,
  revisionOf,
  revokeGrant,
  type SlotResult,
  slotWithoutGrant,
  UNUSED_GRANT_MS,
} from './slots.ts';
import { finishedWaves, openWaves, unknownBefore, wavesOf, waveText } from './waves.ts';

interface ObservedRollouts {
  /** The Rollouts that the budget selects, from Metacontroller's cache. */
  rollouts: readonly Rollout[];
  /** Rollouts that have slots and are no longer selected, by uid; undefined for one that is gone. */
  others: ReadonlyMap<string, Rollout | undefined>;
}

interface BudgetPlan {
  status: BudgetStatus;
  events: NewEvent[];
  requeueAt: EpochMs[];
}

export function planBudget(budget: Budget, observed: ObservedRollouts, now: EpochMs): BudgetPlan {
  const config = readBudget(budget, observed.rollouts.length);
  const before = budget.status ?? {};
  const fleet = fleetOf(observed.rollouts.slice(0, LIMITS.rolloutsOfBudget), config);
  const results = evaluateSlots(before.slots ?? [], fleet, observed, config.slotTimeout, now);
  const taken = withUngranted(results, fleet, now);
  const cooling = coolingNow(before.cooling, results, config.cooldown, now);

  const key = budgetKey(budget);
  const queue = queueOf(fleet, taken, key);
  const continueRequest = pendingContinue(budget);
  const recall = (slots: readonly Slot[], requested: readonly ImageVersion[]) =>
    recallVersions(budget, config, fleet, slots, requested);
  const recalled = recall(taken, firstChoices(queue));
  const kept = taken.map((slot) => (recalled.isBlocked(versionOf(slot)) ? revokeGrant(slot, now) : slot));

  const tooMany = observed.rollouts.length > LIMITS.rolloutsOfBudget;
  const counted = kept.filter(countsAgainstLimit).length + cooling.length;
  const room = tooMany || recalled.problem ? 0 : Math.max(0, config.maxConcurrent - counted);
  const granted = grantSlots(queue, room, openWaves(fleet, kept, recalled.excused), recalled.isBlocked, now);
  const slots = [...kept, ...granted];
  // From here on everything follows from the new slots, so that planning again on the result changes nothing.
  const waiting = queueOf(fleet, slots, key);
  const requested = firstChoices(waiting);
  const { list, excused } = recall(slots, requested);
  const waves = (version: ImageVersion) => wavesOf(version, fleet, slots, excused, config.order?.values);
  const versions = versionsWithWaves(list, before.versions, [...requested, ...slots.map(versionOf)], waves);
  const outcome = {
    config,
    selected: observed.rollouts.length,
    problem: recalled.problem,
    slots,
    taken: counted + granted.length,
    waiting: waiting.length,
    unknown: config.order ? unknownBefore(fleet, waiting) : [],
    blocked: versions.filter((each) => each.blocked && isOneOf(requested)(versionOf(each))),
  };
  const handledRequest = continueRequest?.id ?? before.handledRequest;
  const status = withRevision(budget, {
    handledRequest,
    selected: outcome.selected,
    maxConcurrent: config.maxConcurrent,
    maxFailures: config.maxFailures,
    underWay: outcome.taken,
    waiting: outcome.waiting,
    failed: versions[0]?.failed ?? 0,
    ...(slots.length > 0 && { slots }),
    ...(cooling.length > 0 && { cooling }),
    ...(versions.length > 0 && { versions }),
    conditions: setCondition(before.conditions, readyOf(budget, outcome), now),
  });
  const events = [
    ...(continueRequest ? [continueEvent(continueRequest, recalled.hasContinued)] : []),
    ...results.flatMap(({ before: slot, result }) => slotEvents(slot, result)),
    ...blockedEvents(budget, versions),
    ...(config.order ? versions.flatMap((version) => waveEvents(version, before.versions)) : []),
  ];
  return {
    status,
    events: status === budget.status ? [] : events,
    requeueAt: [
      ...results.flatMap(({ result: { requeueAt } }) => requeueAt ?? []),
      ...cooling.flatMap((at) => (parseTime(at) ?? now) + config.cooldown),
      ...(granted.length > 0 ? [now + UNUSED_GRANT_MS] : []),
      ...kept.flatMap((slot, index) => (slot === taken[index] ? [] : [now])),
    ],
  };
}

interface EvaluatedSlot {
  before: Slot;
  result: SlotResult;
}

function evaluateSlots(
  slots: readonly Slot[],
  fleet: readonly Member[],
  { others }: ObservedRollouts,
  slotTimeout: number | undefined,
  now: EpochMs,
): EvaluatedSlot[] {
  const owners = new Map([...others, ...fleet.map(({ uid, rollout }) => [uid, rollout] as const)]);
  return slots.map((slot) => {
    const isRead = owners.has(slot.uid);
    return { before: slot, result: isRead ? evaluateSlot(slot, owners.get(slot.uid), slotTimeout, now) : { slot } };
  });
}

/** The taken slots, and a slot for each Rollout that deploys without a grant. */
function withUngranted(results: readonly EvaluatedSlot[], fleet: readonly Member[], now: EpochMs): Slot[] {
  const slots = results.flatMap(({ result: { slot } }) => slot ?? []);
  const owners = new Set(slots.map(({ uid }) => uid));
  return [
    ...slots,
    ...fleet.flatMap((member) => (owners.has(member.uid) ? [] : (slotWithoutGrant(member, now) ?? []))),
  ];
}

/** The start of each cooldown. Only a slot that was used and counted against the limit cools down. */
function coolingNow(
  before: readonly string[] | undefined,
  results: readonly EvaluatedSlot[],
  cooldown: number,
  now: EpochMs,
): string[] {
  if (cooldown === 0) return [];
  const freed = formatTime(startSeconds(now));
  const ended = results
    .filter((each) => each.result.freed === 'Ended' && countsAgainstLimit(each.before))
    .map(() => freed);
  // A time in the future was stored before the clock was set back; that cooldown starts now.
  const cooled = (before ?? []).map((at) => ((parseTime(at) ?? 0) > now + 1000 ? freed : at));
  const still = cooled.filter((at) => (parseTime(at) ?? now) + cooldown > now);
  return [...still, ...ended].slice(-LIMITS.rolloutsOfBudget);
}

/** The first choices of the waiting Rollouts, in the order of the queue. */
function firstChoices(queue: readonly Member[]): ImageVersion[] {
  const counted = new Map<string, { version: ImageVersion; times: number }>();
  for (const { image, request } of queue) {
    const [first] = request?.versions ?? [];
    if (!first) continue;
    const version = { image, ...first };
    const known = counted.get(versionKey(version));
    if (known) known.times++;
    else counted.set(versionKey(version), { version, times: 1 });
  }
  return [...counted.values()].sort((a, b) => b.times - a.times).map(({ version }) => version);
}

/**
 * The versions to store, with their waves. A version that isn't current keeps its last waves, and is dropped if it has
 * no failure and not all Rollouts run it.
 * @param current the versions that Rollouts request or deploy
 */
function versionsWithWaves(
  versions: readonly BudgetVersion[],
  before: readonly BudgetVersion[] = [],
  current: readonly ImageVersion[],
  wavesNow: (version: ImageVersion) => Wave[],
): BudgetVersion[] {
  const isCurrent = isOneOf(current);
  return versions
    .map((version) => {
      const known = before.find((each) => isSameImage(versionOf(each), versionOf(version)));
      if (isCurrent(versionOf(version)) || (known?.waves && known.wave !== 'done')) {
        const waves = wavesNow(versionOf(version));
        return { ...version, wave: waveText(waves), waves };
      }
      return known?.waves ? { ...version, wave: known.wave!, waves: known.waves } : version;
    })
    .filter((version) => isCurrent(versionOf(version)) || version.failed > 0 || version.wave === 'done');
}

function waveEvents(version: BudgetVersion, before: readonly BudgetVersion[] | undefined): NewEvent[] {
  const known = before?.find((each) => isSameImage(versionOf(each), versionOf(version)));
  return finishedWaves(known, version.waves ?? []).map((wave) => waveEvent(version, wave));
}

// Grants: Rollouts get slots in the order of waves, then of requests. A Rollout's slot is for the newest version that
// it offers and that waves and failures allow.

/** Rollouts that request a slot of this budget and have none, in the order of the queue. */
function queueOf(fleet: readonly Member[], slots: readonly Slot[], key: string): Member[] {
  const owners = new Set(slots.map(({ uid }) => uid));
  const place = ({ wave, request, rollout }: Member) =>
    [wave, request?.since ?? '', refKey(identityOf(rollout))] as const;
  return fleet
    .filter(({ uid, request }) => request?.budgets?.includes(key) && !owners.has(uid))
    .sort((a, b) => compare(place(a), place(b)));
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const index = a.findIndex((value, i) => value !== b[i]);
  return index < 0 ? 0 : a[index]! < b[index]! ? -1 : 1;
}

function grantSlots(
  queue: readonly Member[],
  room: number,
  openWave: (version: ImageVersion) => number,
  isBlocked: (version: ImageVersion) => boolean,
  now: EpochMs,
): Slot[] {
  // Each version is evaluated once, even if many Rollouts offer it.
  const keyOf = (version: ImageVersion) => `${versionKey(version)}@${version.digest ?? ''}`;
  const open = memoize(openWave, keyOf);
  const blocked = memoize(isBlocked, keyOf);
  const granted: Slot[] = [];
  for (const { rollout, uid, image, wave, request } of queue) {
    if (granted.length >= room) break;
    const version = request?.versions
      ?.map((each) => ({ image, ...each }))
      .find((each) => wave <= open(each) && !blocked(each));
    if (!version || !request) continue;
    const { namespace = '', name = '' } = rollout.metadata;
    granted.push({
      namespace,
      name,
      uid,
      request: request.id,
      version: version.tag,
      ...(version.digest && { digest: version.digest }),
      image,
      rolloutRevision: revisionOf(rollout),
      grantedTime: formatTime(now),
      state: 'Granted',
    });
  }
  return granted;
}
