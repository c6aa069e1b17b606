/** Waves (`spec.order`): the progress of a version in each, and those that are open to it. */
import type { BudgetVersion, Slot, Wave } from '../../api/types.ts';
import { versionOf } from './budgetVersions.ts';
import { type Member, outcomeOf } from './fleet.ts';
import { type ImageVersion, isSameImage } from './imageVersion.ts';

/** Returns the uids of the Rollouts whose failure of a version a user has excused. */
type Excused = (version: ImageVersion) => ReadonlySet<string>;

/** The waves of a version, in order; without `spec.order` one wave without a value. */
export function wavesOf(
  version: ImageVersion,
  fleet: readonly Member[],
  slots: readonly Slot[],
  excused: Excused,
  values: readonly string[] = [],
): Wave[] {
  const waves = [...values, ''].map((value) => ({
    value,
    total: 0,
    done: 0,
    underWay: 0,
    waiting: 0,
    failed: 0,
    excused: 0,
  }));
  const ofVersion = slots.filter((slot) => isSameImage(versionOf(slot), version));
  const owners = new Set(ofVersion.map(({ uid }) => uid));
  const overdue = overdueOf(slots);
  const excusedHere = excused(version);
  for (const member of fleet) {
    const wave = waves[member.wave];
    if (!wave || member.image !== version.image) continue;
    wave.total++;
    const state = owners.has(member.uid) ? 'underWay' : outcomeOf(member, version);
    if (state !== 'other') wave[state]++;
    else if (offers(member, version)) wave.waiting++;
    if (excusedHere.has(member.uid) && isExcused(member, version, overdue)) wave.excused++;
  }
  // The last wave, of unlisted values, is left out if it has no Rollouts and the order has values.
  const shown = waves.filter(({ total }, index) => index < values.length || total > 0 || values.length === 0);
  return shown.map(({ excused: count, ...wave }) => (count > 0 ? { ...wave, excused: count } : wave));
}

function offers({ image, request }: Member, version: ImageVersion): boolean {
  return (request?.versions ?? []).some((each) => isSameImage({ image, ...each }, version));
}

/** Uids of the Rollouts whose slots are overdue. */
function overdueOf(slots: readonly Slot[]): ReadonlySet<string> {
  return new Set(slots.flatMap(({ uid, state }) => (state === 'Overdue' ? [uid] : [])));
}

/** Whether an excused Rollout still fails. If it retries the version in time, later waves wait for it again. */
function isExcused(member: Member, version: ImageVersion, overdue: ReadonlySet<string>): boolean {
  const outcome = outcomeOf(member, version);
  return outcome === 'failed' || (outcome === 'underWay' && overdue.has(member.uid));
}

/**
 * The last wave that is open to a version: the first one with a Rollout in which it has not Succeeded. A Rollout of
 * unknown image counts too.
 * The search ends at that Rollout, so it is linear in the deployments of the version.
 */
export function openWaves(
  fleet: readonly Member[],
  slots: readonly Slot[],
  excused: Excused,
): (version: ImageVersion) => number {
  const inOrder = fleet.toSorted((a, b) => a.wave - b.wave);
  const byImage = Map.groupBy(inOrder, ({ image }) => image);
  const unknown = inOrder.filter(({ isKnown }) => !isKnown);
  const overdue = overdueOf(slots);
  return (version) => {
    const excusedHere = excused(version);
    const isOver = (member: Member) =>
      outcomeOf(member, version) === 'done' || (excusedHere.has(member.uid) && isExcused(member, version, overdue));
    const first = byImage.get(version.image)?.find((member) => !isOver(member));
    const firstUnknown = unknown.find(({ image }) => image !== version.image);
    return Math.min(...[first, firstUnknown].map((member) => member?.wave ?? Number.POSITIVE_INFINITY));
  };
}

/** The Rollouts that block later waves because their image is unknown. */
export function unknownBefore(fleet: readonly Member[], waiting: readonly Member[]): Member[] {
  const last = waiting.reduce((most, { wave }) => Math.max(most, wave), 0);
  return fleet.filter(({ isKnown, wave }) => !isKnown && wave < last);
}

/** The first wave that is not complete, `eu 3/10`; without an order `3/10`; `done` if all are complete. */
export function waveText(waves: readonly Wave[]): string {
  const open = waves.find((wave) => !isComplete(wave));
  if (!open) return 'done';
  const name = waves.length > 1 ? `${open.value || 'rest'} ` : '';
  return `${name}${open.done}/${open.total}`;
}

/** The waves in which the last Rollout has just finished the version. */
export function finishedWaves(before: BudgetVersion | undefined, after: readonly Wave[]): Wave[] {
  const open = new Set(before?.waves?.flatMap((wave) => (isComplete(wave) ? [] : [wave.value])));
  return after.filter((wave) => wave.total > 0 && isComplete(wave) && open.has(wave.value));
}

function isComplete({ total, done, excused = 0 }: Wave): boolean {
  return done + excused >= total;
}
