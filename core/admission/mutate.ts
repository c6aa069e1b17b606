/** The mutating half of the rules in write.ts: what becomes of one write of a Flux object. */
import { ARTIFACT, AWAITS_ARTIFACT, DEPLOYED, GATES, SELECTED_BY, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { HoldReason } from '../../api/metrics.ts';
import type { Pin, Rollout } from '../../api/types.ts';
import { recordReason } from '../gate/bypass.ts';
import { evaluateGates, type GateResult, TOO_MANY_TEXT } from '../gate/evaluateGates.ts';
import { annotate } from '../kube/annotate.ts';
import { newProblems } from '../kube/fieldProblem.ts';
import { isDeeperThan, sameJson } from '../kube/json.ts';
import { refKey } from '../kube/names.ts';
import { isSystemDeleter } from '../kube/systemDeleters.ts';
import { LIMITS } from '../limits.ts';
import { writeBackName } from '../policy/derivedPolicy.ts';
import { decideHeld } from './freeze/decideHeld.ts';
import { pinAnnotationsOf } from './managedFields/annotations.ts';
import { deploymentOf, deploymentText, parseDeployments } from './managedFields/deployment.ts';
import { readPin, writePins } from './managedFields/field.ts';
import { pinFields } from './managedFields/mutate.ts';
import { bypassText, heldWarning, pinnedText, type Refusal, subjectOf } from './messages.ts';
import { closingsOf, passingRollouts } from './passing.ts';
import {
  candidatesOf,
  closedGates,
  type GateContext,
  namedGates,
  type RequiredGates,
  requiredGates,
  selectedByText,
  selectingGates,
} from './requiredGates.ts';
import { closingKey, INVALID_REFERENCE } from './suspend/stateAnnotation.ts';
import { settleSuspension } from './suspend/suspension.ts';
import { type FluxWrite, gatesInTheWay } from './write.ts';

export type WriteOutcome =
  | {
      object: FluxObject;
      warnings: string[];
      /** Why something of the write is not stored; absent where all of it is. */
      held?: HoldReason | undefined;
      refusal?: undefined;
    }
  | { refusal: Refusal; warnings: string[] };

export function decideWrite(write: FluxWrite): WriteOutcome {
  const { oldObject, context, bypass } = write;

  const tooDeep = refuseNesting(write.object, oldObject);
  if (tooDeep) return beyondLimit(write, tooDeep);

  const inTheWay = oldObject && !bypass?.granted ? gatesInTheWay(oldObject, write.object, context) : [];
  const content = oldObject && inTheWay.length > 0 ? hold({ ...write, oldObject }, inTheWay) : pin(write);
  if (content.refusal) return content;

  const gates = gatesOf(content.object, write);

  const marked = annotate(content.object, SELECTED_BY, gates.selectedBy);
  const settled = settleSuspension({
    object: marked,
    sent: write.object,
    oldObject,
    held: inTheWay.length > 0,
    gated: gates.count > 0,
    closed: gates.closed,
    closings: gates.closings,
    awaitsArtifact: content.object.metadata.annotations?.[AWAITS_ARTIFACT] !== undefined,
    fieldManager: write.fieldManager,
    bypass: bypass?.granted ?? false,
    passing: passingRollouts(oldObject, gates.closings, context).size > 0,
    applier: context.applier,
    now: context.now,
  });
  const warnings = [
    ...content.warnings,
    ...newlyInvalid(gates.required, oldObject, context),
    ...idleSourceWarning(write, gates.count),
    ...suspendedWarning(settled, write, gates.closed),
    ...awaitsWarning(settled, write),
  ];
  const counts = (bypass?.granted || write.reasonCounts) ?? false;
  const { held } = content;
  return { object: recordReason(settled, oldObject, write.user, context.now, counts), warnings, held };
}

function beyondLimit({ object }: FluxWrite, sentence: string): WriteOutcome {
  return { refusal: { reason: 'limit', text: `${subjectOf(object)}: ${sentence}` }, warnings: [] };
}

/** Behind a closed gate nothing moves, pins included, but those of a deployment that passes it. */
function hold(write: FluxWrite & { oldObject: FluxObject }, closed: GateResult[]): WriteOutcome {
  const { object, oldObject, context, bypass } = write;
  const evaluated = decideHeld({
    object,
    oldObject,
    fieldManager: write.fieldManager,
    isSync: write.isSync ?? false,
    bySystemDeleter: isSystemDeleter(write.user),
    leavesSelection: leavesSelection(object, oldObject, context),
  });
  if (evaluated.is === 'refused') {
    const text = `${subjectOf(oldObject)} cannot be changed (${evaluated.paths.text}): `;
    const pin = pinAnnotationsOf(oldObject).pins.find((each) => readPin(object, each) !== readPin(oldObject, each));
    const hint = pin ? pinnedText(oldObject, pin, readPin(object, pin)) : bypassText(bypass, 'write');
    return { refusal: { reason: 'gate_closed', text, closed, hint }, warnings: [] };
  }
  const kept = asStored(evaluated.object, oldObject, [DEPLOYED, ARTIFACT, AWAITS_ARTIFACT]);
  const passed = withPassing(kept, { ...write, oldObject });
  if (evaluated.is !== 'held') return { object: passed, warnings: [] };
  return { object: passed, warnings: [heldWarning(closed)], held: 'gate_closed' };
}

/** Of what is held the pins of a deployment that passes the gates move, in a write that leaves alone what they follow. */
function withPassing(kept: FluxObject, write: FluxWrite & { oldObject: FluxObject }): FluxObject {
  const { object, oldObject, context } = write;
  // A Gate that begins to select the object in this very write counts too.
  const closings = [...closingsOf(oldObject, context), ...gatesOf(kept, write).closings];
  const passing = passingRollouts(oldObject, closings, context);
  const isAboutTheSame =
    sameJson(object.spec?.sourceRef, oldObject.spec?.sourceRef) &&
    sameJson(pinAnnotationsOf(object).pins, pinAnnotationsOf(oldObject).pins);
  if (passing.size === 0 || !isAboutTheSame) return kept;
  const moved = writePins(kept, valuesFromGit(object, passing));
  return pinFields({ object: moved, oldObject, rollouts: passing, source: context.source }).object;
}

/** Of fields that Git sets: the values in this write that are the version of a deployment that passes. */
function valuesFromGit(object: FluxObject, passing: ReadonlyMap<string, Rollout>): [Pin, string][] {
  return pinAnnotationsOf(object).pins.flatMap((pin): [Pin, string][] => {
    const rollout = passing.get(pin.rollout);
    const version = writeBackName(rollout) && deploymentOf(rollout)?.version;
    return version && readPin(object, pin) === version ? [[pin, version]] : [];
  });
}

function asStored(object: FluxObject, { metadata }: FluxObject, keys: readonly string[]): FluxObject {
  return keys.reduce((result, key) => annotate(result, key, metadata.annotations?.[key]), object);
}

/** With all gates open, Rollouts say what they pin. */
function pin({ object, oldObject, context }: FluxWrite): WriteOutcome {
  const pinned = pinFields({ object, oldObject, rollouts: context.rollouts, source: context.source });
  const { denials, warnings } = pinned;
  if (denials.length > 0) {
    const text = denials.map((each) => each.text).join(' ');
    const commands = denials.flatMap((each) => each.commands ?? []);
    return { refusal: { reason: 'pinned', text, commands }, warnings };
  }
  return { object: pinned.object, warnings, held: pinned.held ? 'pinned' : undefined };
}

interface Gates {
  required: RequiredGates;
  /** Of all that is required, invalid names included. */
  count: number;
  /** `namespace/name` of the closed ones; what cannot be a name counts as one. */
  closed: string[];
  /** The same with which closing it is: see `closingKey`. */
  closings: string[];
  /** For the annotation SELECTED_BY. */
  selectedBy: string | undefined;
}

/** The Gates that the object requires as it is to be stored. */
function gatesOf(content: FluxObject, { object, oldObject, context }: FluxWrite): Gates {
  const required = requiredGates(content, context, candidatesOf(oldObject ? [object, oldObject] : [object], context));
  const { named, selecting, problems, tooMany } = required;
  const invalid = problems.length > 0 ? [INVALID_REFERENCE] : [];
  const closed = closedGates(required, context);
  return {
    required,
    count: tooMany ? LIMITS.requiredGates : named.length + selecting.length + problems.length,
    closed: [...closed.map(({ ref }) => refKey(ref)), ...invalid],
    closings: [...closed.map(closingKey), ...invalid],
    selectedBy: selectedByText(required, context.truncated),
  };
}

function leavesSelection(object: FluxObject, oldObject: FluxObject, context: GateContext): boolean {
  if (sameJson(object.metadata.labels ?? {}, oldObject.metadata.labels ?? {})) return false;
  if (context.truncated) return true;
  const candidates = candidatesOf([oldObject], context);
  const before = selectingGates(oldObject, candidates, context);
  const after = new Set(selectingGates(object, candidates, context).map(refKey));
  return evaluateGates(before, (ref) => context.gates.get(refKey(ref)), context.now).closed.some(
    ({ ref }) => !after.has(refKey(ref)),
  );
}

const NO_NAMES: Pick<RequiredGates, 'problems' | 'tooMany'> = { problems: [], tooMany: false };

function newlyInvalid(
  { problems, tooMany }: RequiredGates,
  oldObject: FluxObject | undefined,
  context: GateContext,
): string[] {
  const { problems: known, tooMany: already } = oldObject ? namedGates(oldObject, context) : NO_NAMES;
  const isNew = tooMany && !already && oldObject !== undefined;
  return [...(isNew ? [TOO_MANY_TEXT] : []), ...newProblems(problems, known)];
}

/** Flux has no work to do for these: the charts are fetched by those that name one. */
function idleSourceWarning({ object, oldObject }: FluxWrite, required: number): string[] {
  const isIdle = (each: FluxObject | undefined) => each?.kind === 'HelmRepository' && each.spec?.type === 'oci';
  const gatesOf = (each: FluxObject | undefined) => each?.metadata.annotations?.[GATES];
  const isNew = !isIdle(oldObject) || gatesOf(object) !== gatesOf(oldObject);
  if (required === 0 || !isIdle(object) || !isNew) return [];
  return ['a Gate on a HelmRepository of type oci holds nothing: gate the HelmReleases that use it'];
}

/** Whoever creates an object behind a closed gate, or gets past one, learns why nothing happens. */
function suspendedWarning(object: FluxObject, { oldObject, bypass }: FluxWrite, closed: string[]): string[] {
  if (closed.length === 0 || object.metadata.annotations?.[SUSPENDED] === undefined) return [];
  if (!oldObject)
    return [`${object.kind} ${object.metadata.name ?? '(new)'} is suspended: gate ${closed.join(', ')} is closed`];
  return bypass?.granted ? ['written, but still suspended: set spec.suspend to false too for Flux to act on it'] : [];
}

/** Whoever resumes an object whose version is on its way learns that it goes on by itself. */
function awaitsWarning({ metadata, spec }: FluxObject, { object, oldObject }: FluxWrite): string[] {
  const awaits = parseDeployments(metadata.annotations?.[AWAITS_ARTIFACT])[0];
  if (!awaits || oldObject?.spec?.suspend !== true || object.spec?.suspend === spec?.suspend) return [];
  return [`suspended until its source has fetched ${deploymentText(awaits)}, and resumed then`];
}

/**
 * The sentence that refuses a spec too deep to be compared field by field. What is stored already stays writable beside its spec:
 * else whoever nests deep enough could not be suspended.
 */
function refuseNesting(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  if (!isDeeperThan(LIMITS.nesting, object.spec)) return undefined;
  if (oldObject && sameJson(besideSuspend(object), besideSuspend(oldObject))) return undefined;
  return `spec is nested more than ${LIMITS.nesting} levels deep, which is the limit for what Gates and Rollouts hold: nest it less deeply.`;
}

function besideSuspend({ spec }: FluxObject): unknown {
  const { suspend: _, ...rest } = spec ?? {};
  return rest;
}
