/** DESIGN section 7: what becomes of one write of a marked Flux object. */
import { DEPLOYED, SELECTED_BY, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { DenialReason } from '../../api/metrics.ts';
import type { Rollout } from '../../api/types.ts';
import { judgeFrozen } from '../freeze/judge.ts';
import { recordReason } from '../gate/bypass.ts';
import { type JudgedGate, judgeGates, TOO_MANY_TEXT } from '../gate/judge.ts';
import { annotate } from '../kube/annotate.ts';
import { sameJson } from '../kube/json.ts';
import { refKey } from '../kube/names.ts';
import { isCleaner } from '../kube/systemDeleters.ts';
import { LIMITS } from '../limits.ts';
import { type PinOutcome, pinFields } from '../pin/mutate.ts';
import { closingKey, INVALID_REFERENCE } from '../suspend/stateAnnotation.ts';
import { settleSuspension } from '../suspend/suspension.ts';
import { closedGatesText, glassText, heldWarning, subjectOf } from './messages.ts';
import {
  candidatesOf,
  closedGates,
  type GateWorld,
  namedGates,
  type RequiredGates,
  requiredGates,
  selectedByText,
  selectingGates,
} from './requiredGates.ts';
import { refuseFilling, refuseNesting } from './sizeLimits.ts';

export interface FluxWrite {
  /** As the writer wants it. */
  object: FluxObject;
  /** As stored; absent on CREATE. */
  oldObject?: FluxObject | undefined;
  /** The Rollouts that the object names and that exist, by name. */
  rollouts: ReadonlyMap<string, Rollout>;
  world: GateWorld;
  /** Closed Gates of the Rollouts that lose a field in this write: to leave a Rollout is no way around its Gates. */
  closedForPins?: readonly JudgedGate[] | undefined;
  user: string;
  /** From the request's options. */
  fieldManager?: string | undefined;
  /** Whether the writer breaks the glass; where it was tried in vain, why not. */
  glass?: { broken: true } | { broken: false; refused: string } | undefined;
  /** The Kustomization that applies the object, where it exists and the write `asksToResume`. */
  applier?: FluxObject | undefined;
}

export type WriteOutcome =
  | { object: FluxObject; warnings: string[]; denial?: undefined }
  | { denial: string; reason: DenialReason; warnings: string[] };

export function judgeWrite(write: FluxWrite): WriteOutcome {
  const { world, oldObject, user } = write;
  const nested = refuseNesting(write.object, oldObject);
  if (nested) return { reason: 'limit', denial: `${subjectOf(write.object)}: ${nested}`, warnings: [] };
  const inTheWay =
    oldObject && !write.glass?.broken
      ? [...closedGates(requiredGates(oldObject, world), world), ...(write.closedForPins ?? [])]
      : [];
  const { object: content, warnings, denials } = contentOf(write, inTheWay);
  if (denials.length > 0) {
    return { reason: inTheWay.length > 0 ? 'gate_closed' : 'pinned', denial: denials.join(' '), warnings };
  }
  const candidates = candidatesOf(oldObject ? [write.object, oldObject] : [write.object], world);
  const required = requiredGates(content, world, candidates);
  const invalid = required.problems.length > 0 ? [INVALID_REFERENCE] : [];
  const closedNow = closedGates(required, world);
  const closed = [...closedNow.map(({ ref }) => refKey(ref)), ...invalid];
  const count = required.tooMany
    ? LIMITS.requiredGates
    : required.named.length + required.selecting.length + required.problems.length;
  const full = refuseFilling(content, oldObject, count);
  if (full) return { reason: 'limit', denial: `${subjectOf(write.object)}: ${full}`, warnings };
  let object = annotate(content, SELECTED_BY, selectedByText(required, world.truncated));
  object = settleSuspension({
    object,
    sent: write.object,
    oldObject,
    frozen: inTheWay.length > 0,
    gated: count > 0,
    closed,
    closings: [...closedNow.map(closingKey), ...invalid],
    fieldManager: write.fieldManager,
    bypass: write.glass?.broken ?? false,
    applier: write.applier,
    now: world.now,
  });
  warnings.push(...newProblems(required, oldObject, world), ...suspendedWarning(object, write, closed));
  return { object: recordReason(object, oldObject, user, world.now), warnings };
}

/**
 * Whether a write leaves alone all that Rollouts and Gates govern: such a write needs no look at them. A suspended object
 * is looked at also when nothing changes, since its owner's next apply may well be such a write, and it is resumed there;
 * but its finalizers come off without us.
 */
export function isOutOfScope(object: FluxObject, oldObject: FluxObject): boolean {
  const same = (['annotations', 'labels', 'ownerReferences'] as const).every((field) =>
    sameJson(object.metadata[field] ?? {}, oldObject.metadata[field] ?? {}),
  );
  if (!same || !sameJson(object.spec, oldObject.spec)) return false;
  const isSuspendedByUs = oldObject.metadata.annotations?.[SUSPENDED] !== undefined;
  return !isSuspendedByUs || !sameJson(object.metadata.finalizers, oldObject.metadata.finalizers);
}

/** Spec and marks. Behind a closed gate nothing moves, pins included; in the open, Rollouts say what they pin. */
function contentOf(write: FluxWrite, closed: JudgedGate[]): PinOutcome {
  const { object, oldObject, world, fieldManager } = write;
  if (!oldObject || closed.length === 0) return pinFields(write);
  const frozen = judgeFrozen({
    object,
    oldObject,
    fieldManager,
    byCleaner: isCleaner(write.user),
    leavesSelection: leavesSelection(object, oldObject, world),
  });
  if (frozen.is === 'refused') {
    const denial =
      `${subjectOf(oldObject)} cannot be changed (${frozen.paths.text}): ${closedGatesText(closed)}` +
      glassText(write.glass?.broken === false ? write.glass.refused : undefined);
    return { object, warnings: [], denials: [denial] };
  }
  return {
    object: annotate(frozen.object, DEPLOYED, oldObject.metadata.annotations?.[DEPLOYED]),
    warnings: frozen.is === 'held' ? [heldWarning(closed)] : [],
    denials: [],
  };
}

function leavesSelection(object: FluxObject, oldObject: FluxObject, world: GateWorld): boolean {
  if (sameJson(object.metadata.labels ?? {}, oldObject.metadata.labels ?? {})) return false;
  if (world.truncated) return true;
  const marks = candidatesOf([oldObject], world);
  const before = selectingGates(oldObject, marks, world);
  const after = new Set(selectingGates(object, marks, world).map(refKey));
  return judgeGates(before, (ref) => world.gates.get(refKey(ref)), world.now).closed.some(
    ({ ref }) => !after.has(refKey(ref)),
  );
}

const NO_NAMES: Pick<RequiredGates, 'problems' | 'tooMany'> = { problems: [], tooMany: false };

function newProblems(
  { problems, tooMany }: RequiredGates,
  oldObject: FluxObject | undefined,
  world: GateWorld,
): string[] {
  const { problems: known, tooMany: already } = oldObject ? namedGates(oldObject, world) : NO_NAMES;
  const isNew = tooMany && !already && oldObject !== undefined;
  return [...(isNew ? [TOO_MANY_TEXT] : []), ...problems.filter((problem) => !known.includes(problem))];
}

/** Whoever creates an object behind a closed gate, or breaks the glass, learns why nothing happens. */
function suspendedWarning(object: FluxObject, { oldObject, glass }: FluxWrite, closed: string[]): string[] {
  if (closed.length === 0 || object.metadata.annotations?.[SUSPENDED] === undefined) return [];
  if (!oldObject)
    return [`${object.kind} ${object.metadata.name ?? '(new)'} is suspended: gate ${closed.join(', ')} is closed`];
  return glass?.broken ? ['written, but still suspended: set spec.suspend to false too if Flux shall act on it'] : [];
}
