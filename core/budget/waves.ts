/** `spec.order`: how far a version is in each wave, and which waves it may come to. */
import type { BudgetVersion, Slot, Wave } from '../../api/types.ts';
import { type Member, type Outcome, outcomeOf } from './fleet.ts';
import { type ImageVersion, isSameVersion, versionKey } from './version.ts';
import { versionOf } from './versions.ts';

/** The waves of a version, the first first; one without a value where there is no order. */
export function wavesOf(
  version: ImageVersion,
  fleet: readonly Member[],
  slots: readonly Slot[],
  values: readonly string[] = [],
): Wave[] {
  const waves = [...values, ''].map((value) => ({ value, total: 0, done: 0, underWay: 0, waiting: 0, failed: 0 }));
  const onTheirWay = new Set(slots.flatMap((slot) => (isSameVersion(versionOf(slot), version) ? [slot.uid] : [])));
  for (const member of fleet) {
    const wave = waves[member.wave];
    if (!wave || member.image !== version.image) continue;
    wave.total++;
    const state = onTheirWay.has(member.uid) ? 'underWay' : outcomeOf(member, version);
    const field = FIELDS[state];
    if (field) wave[field]++;
    else if (offers(member, version)) wave.waiting++;
  }
  // The rest only where there is one.
  return waves.filter(
    ({ value, total }, index) => index < values.length || total > 0 || (value === '' && !values.length),
  );
}

const FIELDS: Partial<Record<Outcome, 'done' | 'failed' | 'underWay'>> = {
  done: 'done',
  failed: 'failed',
  underWay: 'underWay',
};

function offers({ image, request }: Member, version: ImageVersion): boolean {
  return (request?.versions ?? []).some((each) => isSameVersion({ image, ...each }, version));
}

/** The last wave that a version may come to: the first in which somebody does not have it Succeeded. Linear in all histories together. */
export function openWaves(fleet: readonly Member[]): (version: ImageVersion) => number {
  const totals = new Map<string, number[]>();
  const having = new Map<string, Member[]>();
  for (const member of fleet) {
    const { image, wave, byTag } = member;
    const total = totals.get(image) ?? [];
    totals.set(image, total);
    total[wave] = (total[wave] ?? 0) + 1;
    for (const tag of byTag.keys()) {
      const members = having.get(versionKey({ image, tag }));
      if (members) members.push(member);
      else having.set(versionKey({ image, tag }), [member]);
    }
  }
  return (version) => {
    const missing = [...(totals.get(version.image) ?? [])];
    for (const member of having.get(versionKey(version)) ?? []) {
      if (outcomeOf(member, version) === 'done') missing[member.wave]!--;
    }
    const first = missing.findIndex((count) => count > 0);
    return first < 0 ? Number.POSITIVE_INFINITY : first;
  };
}

/** `eu 3/10`, `3/10` where there is no order, `done`. */
export function waveText(waves: readonly Wave[]): string {
  const open = waves.find(({ total, done }) => done < total);
  if (!open) return 'done';
  const name = waves.length > 1 ? `${open.value || 'rest'} ` : '';
  return `${name}${open.done}/${open.total}`;
}

/** The waves in which the last Rollout has it now. */
export function finishedWaves(before: BudgetVersion | undefined, after: readonly Wave[]): Wave[] {
  const open = new Set(before?.waves?.flatMap(({ value, total, done }) => (done < total ? [value] : [])));
  return after.filter(({ value, total, done }) => total > 0 && done === total && open.has(value));
}
