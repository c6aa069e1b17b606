/**
 * The admission decision about one write of a Flux object (docs/reference/writes.md) for which earlyDecision.ts has no
 * answer. The rules, in the order in which they apply:
 *
 * | rule | the mutating webhook, here | the validating webhook, validate.ts |
 * |---|---|---|
 * | closed Gate | held object: reverts, denies or allows the write | nothing that Gates govern has changed since |
 * | managed fields | object not held, new, or bypassed: sets the deployed versions | these values are still set |
 * | selected-by | writes the annotation | |
 * | suspension | suspends and resumes | an object marked closed is still suspended |
 * | bypass record | writes the annotation | |
 *
 * Gates govern the spec, the owner references and the annotations that name Gates or Rollouts. They don't govern
 * GATE_STATE: a decorator marks a held object with it, and the rule for the suspension decides in that write.
 * The validating webhook sees the object as all webhooks have left it, and reads everything again: the cluster may have
 * changed since. It reads no Rollout for a write that `agreesWithDeployed`. What it doesn't check, another webhook may
 * have changed.
 */
import {
  ARTIFACT,
  AWAITS_ARTIFACT,
  BOUND_ROLLOUT,
  DEPLOYED,
  GATE_PREFIX,
  REQUIRED_GATES,
  ROLLOUT_PREFIX,
  SELECTED_BY,
  SUBSTITUTE,
  SUBSTITUTE_FROM,
  SUSPENDED,
  UNCOUNTED_ON_FLUX_OBJECTS,
} from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { RevertReason } from '../../api/metrics.ts';
import type { ManagedField, Rollout } from '../../api/types.ts';
import { type Bypass, freshReason, recordReason } from '../gate/bypassReason.ts';
import { type ClosedGates, unionOfClosed } from '../gate/closedGates.ts';
import { LIMIT_TEXTS } from '../gate/gateRefs.ts';
import { annotate } from '../kube/annotate.ts';
import { newProblems } from '../kube/fieldProblem.ts';
import { sameJson } from '../kube/json.ts';
import { deploymentOf, deploymentText, isSetByGit, parseDeployments } from '../managedField/deployment.ts';
import { managedFieldsOf, readManagedField, writeManagedFields } from '../managedField/managedFields.ts';
import { type FieldDenial, type ManagedFieldInputs, setManagedFields } from '../managedField/setManagedFields.ts';
import {
  areClosed,
  bypassText,
  type Denial,
  managedFieldTodo,
  revertWarning,
  subjectOf,
} from '../objectGates/gateTexts.ts';
import {
  evaluateObjectGates,
  type GateContext,
  gatesInAnnotation,
  type ObjectGates,
  selectedByText,
} from '../objectGates/objectGates.ts';
import { currentState, isSuspendedByUs, readState } from '../objectGates/objectState.ts';
import { bypassingRollouts } from '../suspension/bypassGrant.ts';
import { settleSuspension } from '../suspension/suspension.ts';
import { decideBehindClosedGate } from './closedGateWrite.ts';

/** The cluster's state for one write, read once and before anything is decided. */
export interface WriteContext extends GateContext, ManagedFieldInputs {
  /** Closed Gates of the Rollouts from which this write unbinds the object: unbinding must not evade them. */
  closedGatesOfUnbound?: ClosedGates | undefined;
  /** The Kustomization that applies the object; only if it exists and the write `endsOpening`. */
  applier?: FluxObject | undefined;
}

/** A write of a Flux object, with everything that decides it. */
export interface FluxWrite {
  /** The object as the writer wants it. */
  object: FluxObject;
  /** The stored object; absent on CREATE. */
  oldObject?: FluxObject | undefined;
  context: WriteContext;
  /** What holds the stored object: see `closedGatesOfWrite`. */
  closed: ClosedGates | undefined;
  user: string;
  /** The manager in the request's options. */
  fieldManager?: string | undefined;
  /** Whether the field manager is a controller that applies from Git, whose applies a closed Gate reverts. */
  isSync?: boolean | undefined;
  /** Whether the writer is Metacontroller. */
  isByDecorator?: boolean | undefined;
  /** Absent if the writer does not ask to bypass a closed Gate. */
  bypass?: Bypass | undefined;
  /** Whether a new reason bypasses a Gate: one that holds the object, or one that would stop its deletion. */
  reasonCounts?: boolean | undefined;
}

type WriteOutcome =
  | {
      object: FluxObject;
      warnings: string[];
      /** Why a part of the write isn't stored; absent if everything is. */
      revertReason?: RevertReason | undefined;
      denial?: undefined;
    }
  | {
      denial: Denial;
      /** The managed fields whose values are denied. */
      deniedFields?: readonly FieldDenial[] | undefined;
      warnings: string[];
    };

/** The object to store, or the denial: the rules of the mutating webhook, in the order above. */
export function decideWrite(write: FluxWrite): WriteOutcome {
  const { oldObject, context, bypass } = write;
  const closed = bypass?.granted ? undefined : write.closed;
  const content = oldObject && closed ? revertOrDeny({ ...write, oldObject, closed }) : manageFields(write);
  if (content.denial) return content;

  // From here on only spec.suspend and our annotations change.
  const gates = evaluateObjectGates(content.object, context);
  const settled = settleSuspension({
    object: annotate(content.object, SELECTED_BY, selectedByText(gates)),
    sent: write.object,
    oldObject,
    gates,
    fieldManager: write.fieldManager,
    writerBypasses: bypass?.granted ?? false,
    deploymentBypasses: bypassingRollouts(oldObject, gates.closures, context).size > 0,
    applier: context.applier,
    now: context.now,
  });
  const warnings = [
    ...content.warnings,
    ...referenceWarnings(gates, oldObject, context),
    ...idleSourceWarning(write, gates),
    ...suspendedWarning(settled, write, gates),
    ...awaitsWarning(settled, write),
    ...unknownAnnotationWarnings(write),
  ];
  return {
    object: recordReason(settled, oldObject, write.user, context.now, write.reasonCounts ?? false),
    warnings,
    revertReason: content.revertReason,
  };
}

/** The closed Gates that hold the stored object, and those of the Rollouts from which the write unbinds it. */
export function closedGatesOfWrite(oldObject: FluxObject, context: WriteContext): ClosedGates | undefined {
  return unionOfClosed([evaluateObjectGates(oldObject, context).closed, context.closedGatesOfUnbound]);
}

/** Whether closed Gates hold the object in this write, whatever its Rollouts deploy: then they need not be read. */
export function holdsWrite(
  gates: GateContext,
  { object, oldObject }: { object: FluxObject | undefined; oldObject: FluxObject | undefined },
): boolean {
  if (!object || !oldObject) return false;
  const isBypassing = readState(object)?.is === 'bypassing' || readState(oldObject)?.is === 'bypassing';
  if (isBypassing || freshReason(object, oldObject) !== undefined) return false;
  const { closed, closures } = evaluateObjectGates(oldObject, gates);
  // A Rollout's deployment that bypasses these closures sets the managed fields of a bypassed object too.
  return closed !== undefined && currentState(oldObject, closures) === 'closed';
}

/**
 * Reverts, denies or allows a write behind closed Gates: no governed field changes, except for a bypassing deployment.
 */
function revertOrDeny(write: FluxWrite & { oldObject: FluxObject; closed: ClosedGates }): WriteOutcome {
  const { oldObject, closed, bypass } = write;
  const begins = beginsHold(write);
  const object = begins ? withStoredFields(write.object, oldObject) : write.object;
  const outcome = decideBehindClosedGate({ ...write, object, beginsHold: begins });
  if (outcome.is === 'denied') {
    const text = `${subjectOf(oldObject)} cannot be changed (${outcome.paths})`;
    const [field] = changedFields(object, oldObject);
    const todo = field
      ? managedFieldTodo(oldObject, field, readManagedField(object, field))
      : { text: bypassText(bypass, 'write', closed) };
    return { denial: { reason: 'gate_closed', text, closed, todo }, warnings: [] };
  }
  const kept = [DEPLOYED, ARTIFACT, AWAITS_ARTIFACT].reduce(
    (result, key) => annotate(result, key, oldObject.metadata.annotations?.[key]),
    outcome.object,
  );
  const stored = withBypassingFields(kept, write);
  if (outcome.is !== 'reverted') return { object: stored, warnings: [] };
  return { object: stored, warnings: [revertWarning(closed)], revertReason: 'gate_closed' };
}

/**
 * Whether the write is a decorator's that suspends the object. Only another webhook can change the spec in it, and that
 * is stored, but for managed fields: with a denial the object would stay running.
 */
function beginsHold({ oldObject, context, isByDecorator }: FluxWrite & { oldObject: FluxObject }): boolean {
  if (!isByDecorator || isSuspendedByUs(oldObject) || oldObject.metadata.deletionTimestamp) return false;
  const { closures } = evaluateObjectGates(oldObject, context);
  const isBypassed = currentState(oldObject, closures) === 'bypassed';
  return closures.length > 0 && !isBypassed && bypassingRollouts(oldObject, closures, context).size === 0;
}

/** The object with its managed fields as they are stored. */
function withStoredFields(object: FluxObject, oldObject: FluxObject): FluxObject {
  return writeManagedFields(
    object,
    changedFields(object, oldObject).map((field) => [field, readManagedField(oldObject, field)]),
  );
}

/** The managed fields of the stored object to which the write gives other values. */
function changedFields(object: FluxObject, oldObject: FluxObject): ManagedField[] {
  return managedFieldsOf(oldObject).fields.filter(
    (field) => readManagedField(object, field) !== readManagedField(oldObject, field),
  );
}

/**
 * The held object with the managed fields of a deployment that bypasses the Gates. The fields stay if the write changes
 * their annotations or the source.
 */
function withBypassingFields(kept: FluxObject, write: FluxWrite & { oldObject: FluxObject }): FluxObject {
  const { object, oldObject, context } = write;
  // The object as it will be stored: a Gate that begins to select it in this very write counts too.
  const { closures } = evaluateObjectGates(kept, context);
  const bypassing = bypassingRollouts(oldObject, closures, context);
  const hasSameFields =
    sameJson(object.spec?.sourceRef, oldObject.spec?.sourceRef) &&
    sameJson(managedFieldsOf(object).fields, managedFieldsOf(oldObject).fields);
  if (bypassing.size === 0 || !hasSameFields) return kept;
  const withGitValues = writeManagedFields(kept, valuesFromGit(object, bypassing));
  return setManagedFields({ ...context, object: withGitValues, oldObject, rollouts: bypassing }).object;
}

/** The fields that Git sets in this write to the version of a deployment that bypasses the Gates. */
function valuesFromGit(object: FluxObject, bypassing: ReadonlyMap<string, Rollout>): [ManagedField, string][] {
  return managedFieldsOf(object).fields.flatMap((field): [ManagedField, string][] => {
    const rollout = bypassing.get(field.rollout);
    const version = isSetByGit(rollout) && deploymentOf(rollout)?.version;
    return version && readManagedField(object, field) === version ? [[field, version]] : [];
  });
}

/**
 * The object with the managed fields of its Rollouts, or the denial of an edit. Used if all Gates are open, a bypass is
 * granted, or the object is new: a new object behind a closed Gate is created suspended.
 */
function manageFields({ object, oldObject, context }: FluxWrite): WriteOutcome {
  const outcome = setManagedFields({ ...context, object, oldObject });
  const { denials, warnings } = outcome;
  if (denials.length > 0) {
    const text = `${subjectOf(object)}: ${denials.map((each) => each.text).join(' ')}`;
    const commands = denials.flatMap((each) => each.commands ?? []);
    return { denial: { reason: 'managed_field', text, todo: { commands } }, deniedFields: denials, warnings };
  }
  return { object: outcome.object, warnings, revertReason: outcome.isReverted ? 'managed_field' : undefined };
}

// Warnings about an allowed write.

const KNOWN_ANNOTATIONS = new Set([...UNCOUNTED_ON_FLUX_OBJECTS, BOUND_ROLLOUT, REQUIRED_GATES, SUBSTITUTE]);
const MAX_UNKNOWN_ANNOTATIONS = 3;

/** Whether an annotation with our prefixes means nothing on a Flux object: misspelt, it holds and sets nothing. */
export function isUnknownAnnotation(key: string): boolean {
  const isOurs = key.startsWith(ROLLOUT_PREFIX) || key.startsWith(GATE_PREFIX);
  return isOurs && !KNOWN_ANNOTATIONS.has(key) && !SUBSTITUTE_FROM.test(key);
}

function unknownAnnotationWarnings({ object, oldObject }: FluxWrite): string[] {
  const before = oldObject?.metadata.annotations ?? {};
  const keys = Object.keys(object.metadata.annotations ?? {});
  return keys
    .filter((key) => before[key] === undefined && isUnknownAnnotation(key))
    .slice(0, MAX_UNKNOWN_ANNOTATIONS)
    .map((key) => `unknown annotation ${key}: is it a typo?`);
}

/** Warnings about references that the write breaks, or with which it exceeds a limit; for a new object, about each. */
function referenceWarnings(
  { problems, limit }: ObjectGates,
  oldObject: FluxObject | undefined,
  context: GateContext,
): string[] {
  const known = oldObject && gatesInAnnotation(oldObject, context);
  const isNew = limit && !known?.tooMany;
  return [...(isNew ? [`held: ${LIMIT_TEXTS[limit]}`] : []), ...newProblems(problems, known?.problems)];
}

/**
 * The Warning about a Gate on an OCI HelmRepository. It holds nothing: Flux doesn't reconcile such an object, and the
 * objects that use it fetch the charts.
 */
function idleSourceWarning({ object, oldObject }: FluxWrite, gates: ObjectGates): string[] {
  const isIdle = (each: FluxObject | undefined) => each?.kind === 'HelmRepository' && each.spec?.type === 'oci';
  const gatesAnnotation = (each: FluxObject | undefined) => each?.metadata.annotations?.[REQUIRED_GATES];
  const isNew = !isIdle(oldObject) || gatesAnnotation(object) !== gatesAnnotation(oldObject);
  const isGated = gates.all.length > 0 || gates.closures.length > 0;
  if (!isGated || !isIdle(object) || !isNew) return [];
  return [
    'a Gate on a HelmRepository of type oci holds nothing: require the Gate on the HelmReleases that use the repository',
  ];
}

/**
 * The Warning that the object is suspended: it was created behind a closed Gate, written with a bypass, or resumed by a
 * user in vain. A limit has a Warning of its own.
 */
function suspendedWarning(
  { kind, metadata }: FluxObject,
  { object, oldObject, bypass }: FluxWrite,
  gates: ObjectGates,
): string[] {
  if (gates.closures.length === 0 || metadata.annotations?.[SUSPENDED] === undefined) return [];
  if (oldObject && bypass?.granted)
    return ['stored, but still suspended: to let Flux act on it, also set spec.suspend to false'];
  if (oldObject) {
    // Behind a closed Gate the write would have been denied.
    const isResumed = oldObject.spec?.suspend === true && object.spec?.suspend !== true;
    return isResumed && gates.problems.length > 0
      ? ['still suspended: a reference in gate.fluxcd.io/gates names no Gate; correct or remove it']
      : [];
  }
  const { closed } = gates;
  if (!closed || closed.limit) return [];
  return [`${kind} '${metadata.name ?? '(new)'}' is suspended: ${areClosed(closed)}`];
}

/** The Warning for a user who resumes an object whose version is being fetched: it is resumed automatically. */
function awaitsWarning({ metadata, spec }: FluxObject, { object, oldObject }: FluxWrite): string[] {
  const awaits = parseDeployments(metadata.annotations?.[AWAITS_ARTIFACT])[0];
  if (!awaits || oldObject?.spec?.suspend !== true || object.spec?.suspend === spec?.suspend) return [];
  return [`stays suspended until its source has fetched ${deploymentText(awaits)}; it is then resumed automatically`];
}
