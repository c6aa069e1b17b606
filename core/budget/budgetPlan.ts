/**
 * The plan of a RolloutBudget: it frees the slots that have ended and grants free ones in its own status, of which it
 * is the only writer. Planning again on the result changes nothing.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Budget, BudgetStatus, BudgetVersion, Rollout, Slot, Wave } from '../../api/types.ts';
import { setCondition } from '../kube/conditions.ts';
import type { NewEvent } from '../kube/events.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { once } from '../memo.ts';
import { withRevision } from '../status/revision.ts';
import { readBudget } from './budgetConfig.ts';
import { continueEvent, heldEvents, readyOf, slotEvents, waveEvent } from './budgetReport.ts';
import { recallVersions, versionOf } from './budgetVersions.ts';
import { pendingContinue } from './continueRequest.ts';
import { fleetOf, type Member } from './fleet.ts';
import { among, type ImageVersion, isSameImage, versionKey } from './imageVersion.ts';
import { budgetKey } from './selectingBudgets.ts';
import {
  countsAgainstLimit,
  evaluateSlot,
  type Holder,
  revisionOf,
  revoking,
  runningWithoutSlot,
  type SlotResult,
  UNUSED_MS,
} from './slots.ts';
import { finishedWaves, openWaves, unknownBefore, wavesOf, waveText } from './waves.ts';

interface Seen {
  /** The Rollouts that the budget selects, as its hook was sent them. */
  rollouts: readonly Rollout[];
  /** Holders of slots that are not selected now, by uid. */
  others: ReadonlyMap<string, Holder>;
}

interface BudgetPlan {
  status: BudgetStatus;
  events: NewEvent[];
  requeueAt: EpochMs[];
}

export function planBudget(budget: Budget, seen: Seen, now: EpochMs): BudgetPlan {
  const config = readBudget(budget, seen.rollouts.length);
  const before = budget.status ?? {};
  const fleet = fleetOf(seen.rollouts.slice(0, LIMITS.rolloutsOfBudget), config);
  const results = evaluateSlots(before.slots ?? [], fleet, seen, config.slotTimeout, now);
  const begun = withUngranted(results, fleet, now);
  const cooling = coolingNow(before.cooling, results, config.cooldown, now);

  const key = budgetKey(budget);
  const queue = queueOf(fleet, begun, key);
  const continueRequest = pendingContinue(budget);
  const recall = (slots: readonly Slot[], requested: readonly ImageVersion[]) =>
    recallVersions(before.versions ?? [], fleet, slots, requested, config.maxFailures, continueRequest);
  const recalled = recall(begun, firstChoices(queue));
  const held = begun.map((slot) => (recalled.isHeld(versionOf(slot)) ? revoking(slot, now) : slot));

  const tooMany = seen.rollouts.length > LIMITS.rolloutsOfBudget;
  const taken = held.filter(countsAgainstLimit).length + cooling.length;
  const room = tooMany || recalled.problem ? 0 : Math.max(0, config.maxConcurrent - taken);
  const granted = grant(queue, room, openWaves(fleet, held, recalled.excused), recalled.isHeld, now);
  const slots = [...held, ...granted];
  // Computed from the results: the same status leads to the same decision.
  const left = queueOf(fleet, slots, key);
  const requested = firstChoices(left);
  const after = recall(slots, requested);
  const waves = (version: ImageVersion) => wavesOf(version, fleet, slots, after.excused, config.order?.values);
  const isCurrent = among([...requested, ...slots.map(versionOf)]);
  const versions = after.list
    .map((version) => {
      const known = before.versions?.find((each) => isSameImage(versionOf(each), versionOf(version)));
      return withWaves(version, known, isCurrent(versionOf(version)), waves);
    })
    .filter((version) => isCurrent(versionOf(version)) || version.failed > 0 || version.wave === 'done');
  const outcome = {
    config,
    selected: seen.rollouts.length,
    problem: recalled.problem,
    slots,
    taken: taken + granted.length,
    waiting: left.length,
    unknown: config.order ? unknownBefore(fleet, left) : [],
    held: versions.filter((each) => each.held && among(requested)(versionOf(each))),
  };
  const handledRequest = continueRequest?.uid ?? before.handledRequest;
  const status = withRevision(budget, {
    ...(handledRequest && { handledRequest }),
    selected: outcome.selected,
    maxConcurrent: config.maxConcurrent,
    ...(config.maxFailures !== undefined && { maxFailures: config.maxFailures }),
    underWay: outcome.taken,
    waiting: outcome.waiting,
    failed: versions[0]?.failed ?? 0,
    ...(slots.length > 0 && { slots }),
    ...(cooling.length > 0 && { cooling }),
    ...(versions.length > 0 && { versions }),
    conditions: setCondition(before.conditions, readyOf(budget, outcome), now),
  });
  const changes = [
    ...(continueRequest
      ? [continueEvent(continueRequest.version, continueRequest.by, recalled.hasContinued, continueRequest.uid)]
      : []),
    ...results.flatMap(({ before: slot, result: each }) => slotEvents(slot, each)),
    ...heldEvents(budget, versions),
    ...(config.order ? versions.flatMap((version) => waveEvents(version, before.versions)) : []),
  ];
  return {
    status,
    events: status === budget.status ? [] : changes,
    requeueAt: [
      ...results.flatMap(({ result: { requeueAt } }) => requeueAt ?? []),
      ...cooling.flatMap((at) => (parseTime(at) ?? now) + config.cooldown),
      ...(granted.length > 0 ? [now + UNUSED_MS] : []),
      ...held.flatMap((slot, index) => (slot === begun[index] ? [] : [now])),
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
  { others }: Seen,
  slotTimeout: number | undefined,
  now: EpochMs,
): EvaluatedSlot[] {
  const byUid = new Map(fleet.map(({ uid, rollout }) => [uid, rollout]));
  return slots.map((slot) => ({
    before: slot,
    result: evaluateSlot(slot, byUid.get(slot.uid) ?? others.get(slot.uid), slotTimeout, now),
  }));
}

function withUngranted(results: readonly EvaluatedSlot[], fleet: readonly Member[], now: EpochMs): Slot[] {
  const slots = results.flatMap(({ result: { slot } }) => slot ?? []);
  const holders = new Set(slots.map(({ uid }) => uid));
  return [
    ...slots,
    ...fleet.flatMap((member) => (holders.has(member.uid) ? [] : (runningWithoutSlot(member, now) ?? []))),
  ];
}

/** The cooldowns to store. Only a slot that was used cools down, and only one that counted against the limit. */
function coolingNow(
  before: readonly string[] | undefined,
  results: readonly EvaluatedSlot[],
  cooldown: number,
  now: EpochMs,
): string[] {
  if (cooldown === 0) return [];
  // Rounded up: it must not be over before its time.
  const freed = formatTime(Math.ceil(now / 1000) * 1000);
  const ended = results
    .filter((each) => each.result.freed === 'Ended' && countsAgainstLimit(each.before))
    .map(() => freed);
  // A time in the future was stored before the clock was set back: the cooldown starts now.
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

/** The version with its waves. The entry stays after all Rollouts have deployed the version and none requests it. */
function withWaves(
  version: BudgetVersion,
  known: BudgetVersion | undefined,
  isCurrent: boolean,
  wavesNow: (version: ImageVersion) => Wave[],
): BudgetVersion {
  if (!isCurrent && (!known?.waves || known.wave === 'done')) {
    return known?.waves ? { ...version, wave: known.wave!, waves: known.waves } : version;
  }
  const waves = wavesNow(versionOf(version));
  return { ...version, wave: waveText(waves), waves };
}

function waveEvents(version: BudgetVersion, before: readonly BudgetVersion[] | undefined): NewEvent[] {
  const known = before?.find((each) => isSameImage(versionOf(each), versionOf(version)));
  return finishedWaves(known, version.waves ?? []).map((wave) => waveEvent(version, wave));
}

// Who gets a slot: Rollouts in the order of waves, then of their requests. Each gets the newest version that it offers
// and that waves and failures allow.

/** Rollouts that request a slot of this budget and have none, in the order of the queue. */
function queueOf(fleet: readonly Member[], slots: readonly Slot[], key: string): Member[] {
  const holders = new Set(slots.map(({ uid }) => uid));
  const place = ({ wave, request, rollout }: Member) =>
    [wave, request?.since ?? '', refKey(identityOf(rollout))] as const;
  return fleet
    .filter(({ uid, request }) => request?.budgets?.includes(key) && !holders.has(uid))
    .sort((a, b) => compare(place(a), place(b)));
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const index = a.findIndex((value, i) => value !== b[i]);
  return index < 0 ? 0 : a[index]! < b[index]! ? -1 : 1;
}

function grant(
  queue: readonly Member[],
  room: number,
  openWave: (version: ImageVersion) => number,
  isHeld: (version: ImageVersion) => boolean,
  now: EpochMs,
): Slot[] {
  // Each version is evaluated once, even if many Rollouts offer it.
  const keyOf = (version: ImageVersion) => `${versionKey(version)}@${version.digest ?? ''}`;
  const open = once(openWave, keyOf);
  const held = once(isHeld, keyOf);
  const granted: Slot[] = [];
  for (const { rollout, uid, image, wave, request } of queue) {
    if (granted.length >= room) break;
    const version = request?.versions
      ?.map((each) => ({ image, ...each }))
      .find((each) => wave <= open(each) && !held(each));
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
