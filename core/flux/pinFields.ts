/** DESIGN section 7, rows 1 to 3: what one write may do to the fields that Rollouts own. */
import { DEPLOYED, FORCE_DEPLOY } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { Pin, Rollout, Stamp } from '../../api/types.ts';
import { annotate } from '../kube/annotate.ts';
import { stampOf } from './deployed.ts';
import { marksOf, pinPath } from './marks.ts';
import { appliedServerSide, reappliedClientSide } from './ownership.ts';
import { readPin, strongerRefs, writePin } from './pin.ts';
import { formatStamps, parseStamps } from './stamp.ts';

export interface PinWrite {
  /** As the writer wants it. */
  object: FluxObject;
  /** As stored; absent on CREATE. */
  oldObject?: FluxObject | undefined;
  /** The Rollouts that the object names and that exist, by name. */
  rollouts: ReadonlyMap<string, Rollout>;
}

export interface PinOutcome {
  /** As it shall be stored: fields and stamps. */
  object: FluxObject;
  warnings: string[];
  /** Not empty: the write is refused, for these reasons. */
  denials: string[];
}

interface Decision {
  value: string | undefined;
  stamp?: Stamp | undefined;
  /** Re-pinned: what to tell the writer. */
  held?: string;
  warning?: string;
  denial?: string;
}

export function pinFields(write: PinWrite): PinOutcome {
  const { pins, problems } = marksOf(write.object);
  const before = write.oldObject ? marksOf(write.oldObject) : { pins: [], problems: [] };
  const known = before.problems;
  const warnings = problems.filter((problem) => !known.includes(problem));
  const denials: string[] = [];
  const held: string[] = [];
  const stamps = new Map<string, Stamp>();
  let object = write.object;
  for (const pin of pins) {
    const decision = decide(pin, write, before.pins);
    if (decision.held) held.push(decision.held);
    if (decision.warning) warnings.push(decision.warning);
    if (decision.denial) denials.push(decision.denial);
    if (decision.stamp && !stamps.has(pin.rollout)) stamps.set(pin.rollout, decision.stamp);
    if (decision.stamp && strongerRefs(object, pin).length > 0) {
      held.push(`${strongerRefs(object, pin).join(' and ')} removed from spec.ref, it would override the tag`);
    }
    object = decision.stamp ? writePin(object, pin, decision.value) : object;
  }
  if (held.length > 0) warnings.unshift(held.join('; '));
  object = annotate(object, DEPLOYED, stamps.size > 0 ? formatStamps([...stamps.values()]) : undefined);
  return { object, warnings, denials };
}

function decide(pin: Pin, write: PinWrite, before: readonly Pin[]): Decision {
  const live = stampOf(write.rollouts.get(pin.rollout));
  const wasPinned = before.some((old) => old.rollout === pin.rollout && old.variable === pin.variable);
  return live ? follow(pin, live, write, wasPinned) : keep(pin, write);
}

/** The Rollout says what the value is. */
function follow(pin: Pin, live: Stamp, write: PinWrite, wasPinned: boolean): Decision {
  const value = readPin(write.object, pin);
  const decision: Decision = { value: live.version, stamp: live };
  const stays = `${shortName(pin)} stays ${live.version}, deployed by Rollout ${pin.rollout}`;
  if (value === live.version) return decision;
  if (value === undefined) return wasPinned ? { ...decision, held: stays } : decision;
  // The old value: the Rollout has moved on since, and the writer did not touch the field.
  if (write.oldObject && value === readPin(write.oldObject, pin)) return decision;
  if (!wasPinned || isApply(pin, write)) return { ...decision, held: stays };
  return { ...decision, denial: denialOf(pin, live, value) };
}

/** The Rollout is gone or has deployed nothing: what the object carries is all there is to go by. */
function keep(pin: Pin, write: PinWrite): Decision {
  const value = readPin(write.object, pin);
  if (!write.oldObject) {
    // A backup restored: the stamp that came with the object counts if the object really carries that version.
    return { value, stamp: stampsOf(write.object).find((s) => s.rollout === pin.rollout && s.version === value) };
  }
  const kept = stampsOf(write.oldObject).find((s) => s.rollout === pin.rollout);
  const old = readPin(write.oldObject, pin);
  if (!kept || value === old) return { value, stamp: kept };
  const why = write.rollouts.has(pin.rollout) ? 'has deployed nothing yet' : 'does not exist';
  if (old !== undefined && (value === undefined || isApply(pin, write))) {
    return { value: old, stamp: kept, held: `${shortName(pin)} stays ${old}: Rollout ${pin.rollout} ${why}` };
  }
  const warning = `${shortName(pin)} is now ${value} and follows no Rollout: ${pin.rollout} ${why}`;
  // A Rollout created later adopts what the object carries, so the stamp tells that and not what it was.
  return { value, stamp: { ...kept, version: value ?? kept.version }, warning };
}

function isApply(pin: Pin, { object, oldObject }: PinWrite): boolean {
  const path = pinPath(pin);
  return appliedServerSide(object, path) || (!!oldObject && reappliedClientSide(object, oldObject, path));
}

function stampsOf(object: FluxObject): Stamp[] {
  return parseStamps(object.metadata.annotations?.[DEPLOYED]);
}

function shortName(pin: Pin): string {
  return pin.variable ?? 'spec.ref.tag';
}

function denialOf(pin: Pin, live: Stamp, value: string): string {
  return (
    `${pinPath(pin).join('.')} cannot be set to '${value}': it is held by Rollout '${pin.rollout}', which has deployed ` +
    `'${live.version}'. To deploy another version, set spec.wantedVersion on that Rollout, or annotate the Rollout with ` +
    `${FORCE_DEPLOY}=<version>.`
  );
}
