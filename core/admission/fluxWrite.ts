/**
 * The admission decision about one write of a Flux object (docs/reference/writes.md): first without reading anything,
 * then by these rules, in the order in which they apply:
 *
 * | rule | the mutating webhook, here | the validating webhook, validate.ts |
 * |---|---|---|
 * | closed Gate | held object: reverts, denies or allows the write | nothing that Gates govern has changed since |
 * | managed fields | object not held, new, or bypassed: sets the deployed versions | these values are still set |
 * | selected-by | writes the annotation | |
 * | suspension | sets spec.suspend, and stores the value before | an object marked closed is still suspended |
 * | bypass record | writes the annotation | |
 *
 * Gates govern the spec, the owner references and the annotations that name Gates or Rollouts (`governedChanges`), not
 * GATE_STATE: a decorator marks a held object with it, and the rule for the suspension decides in that write.
 * The validating webhook sees the object as all webhooks have left it, and reads everything again: the cluster may have
 * changed since. It reads no Rollout for a write that `agreesWithDeployed`. What it doesn't check, another webhook may
 * have changed.
 */
import { ARTIFACT, AWAITS_ARTIFACT, DEPLOYED, SELECTED_BY } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { RevertReason } from '../../api/metrics.ts';
import type { ManagedField, Rollout } from '../../api/types.ts';
import { type Bypass, freshReason, recordReason } from '../gate/bypassReason.ts';
import type { ClosedGates } from '../gate/closedGates.ts';
import type { RefRules } from '../gate/gateRefs.ts';
import { annotate } from '../kube/annotate.ts';
import { sameJson } from '../kube/json.ts';
import { without } from '../kube/names.ts';
import { isSystemDeleter } from '../kube/users.ts';
import { isApplyBy, writersOf } from '../kube/writers.ts';
import { deploymentOf, isSetByGit } from '../managedField/deployment.ts';
import { managedFieldsOf, readManagedField, writeManagedFields } from '../managedField/managedFields.ts';
import { type FieldDenial, type ManagedFieldInputs, setManagedFields } from '../managedField/setManagedFields.ts';
import { bypassText, type Denial, managedFieldTodo, revertWarning, subjectOf } from '../objectGates/gateTexts.ts';
import {
  escapesSelection,
  evaluateObjectGates,
  foreignGates,
  foreignText,
  type GateContext,
  type ObjectGates,
  selectedByText,
} from '../objectGates/objectGates.ts';
import { currentState, isSuspendedByUs, storedState } from '../objectGates/objectState.ts';
import { bypassingRollouts } from '../suspension/bypassGrant.ts';
import { settleSuspension } from '../suspension/suspension.ts';
import { type Change, FewPaths, governedChanges, labelChanges } from './governedChanges.ts';
import { withStoredForm } from './storedForm.ts';
import { withShrinkingEdits } from './writeLimits.ts';
import { writeWarnings } from './writeWarnings.ts';

/** The stored object, and its Gates at the time of one write. */
export interface WriteGates extends GateContext {
  /** The stored object, see `withShrinkingEdits`; absent on CREATE. */
  old?: FluxObject;
  /** The Gates that it requires, evaluated. */
  oldGates?: ObjectGates;
}

/** The cluster's state for one write, read once and before anything is decided. */
export interface WriteContext extends WriteGates, ManagedFieldInputs {
  /**
   * The closed Gates that hold the stored object, and those of the Rollouts from which this write unbinds it: unbinding
   * must not evade them.
   */
  closed?: ClosedGates | undefined;
  /** The Kustomization that applies the object; only if it exists and the write `endsOpening`. */
  applier?: FluxObject;
}

/** A write of a Flux object, with everything that decides it. */
export interface FluxWrite extends WriteContext {
  /** The object as the writer wants it. */
  object: FluxObject;
  user: string;
  /** The manager in the request's options. */
  fieldManager?: string;
  /** Whether the field manager is a controller that applies from Git, whose applies a closed Gate reverts. */
  isSync?: boolean;
  /** Whether the writer is Metacontroller. */
  isByDecorator?: boolean;
  /** Absent if the writer requests no bypass. */
  bypass?: Bypass;
  /** Whether a new reason bypasses a Gate: one that holds the object, or one that would stop its deletion. */
  reasonCounts?: boolean;
}

type WriteOutcome =
  | {
      object: FluxObject;
      warnings: string[];
      /** Why a part of the write isn't stored; absent if everything is. */
      revertReason?: RevertReason;
      denial?: undefined;
    }
  | {
      denial: Denial;
      /** The managed fields whose values are denied. */
      deniedFields?: readonly FieldDenial[];
      warnings: string[];
    };

// Before anything is read: most writes change nothing governed.

/**
 * Whether a write changes nothing that Rollouts and Gates govern, and so needs no decision.
 * On an object that we suspended even an unchanged write is decided, since it may be its applier's apply, which resumes
 * it. A write of finalizers is not, so that the object can be deleted without this server.
 * In CEL, in manifests/webhooks/mutating.yaml: `changed`, `nothing-governed-changed` and `something-else-changed`.
 */
export function isOutOfScope(object: FluxObject, old: FluxObject): boolean {
  const same = (['annotations', 'labels', 'ownerReferences'] as const).every((field) =>
    sameJson(object.metadata[field] ?? {}, old.metadata[field] ?? {}),
  );
  if (!same || !sameJson(object.spec, old.spec)) return false;
  const changesOther = (['finalizers', 'managedFields', 'generateName'] as const).some(
    (field) => !sameJson(object.metadata[field], old.metadata[field]),
  );
  if (isSuspendedByUs(old)) return !sameJson(object.metadata.finalizers, old.metadata.finalizers);
  // A burst of writes of these other fields makes the decorator's suspending write conflict again and again. So the
  // webhook decides them too, and suspends the object in one of them.
  return !changesOther || old.metadata.deletionTimestamp !== undefined;
}

/** The form of the API server, which reads `0354` as 354, and `0` as "whatever is stored". */
const RESOURCE_VERSION = /^[1-9]\d*$/;

/**
 * Whether the API server will reject the write with a 409, because its resourceVersion is not the stored one.
 * Webhooks are called before that check. A decorator that writes from an old cache would look like a user who undoes
 * the last change; a denial would count as its failure, while a conflict is retried.
 */
export function willConflict(object: FluxObject, old: FluxObject): boolean {
  const version = object.metadata.resourceVersion ?? '';
  const stored = old.metadata.resourceVersion ?? '';
  return RESOURCE_VERSION.test(version) && RESOURCE_VERSION.test(stored) && version !== stored;
}

/** The denial of a write that begins to name a Gate of another namespace, although the rules forbid it. */
export function foreignGateDenial(
  object: FluxObject,
  old: FluxObject | undefined,
  rules: RefRules,
): Denial | undefined {
  const [first] = without(foreignGates(object, rules), old ? foreignGates(old, rules) : []);
  return first && { reason: 'not_permitted', text: `${subjectOf(object)}: ${foreignText(first)}` };
}

// The decision.

/**
 * The object to store, or the denial: the rules of the mutating webhook, in the order above. A granted bypass counts as
 * open Gates, but the object stays suspended unless the write resumes it.
 */
export function decideWrite(write: FluxWrite): WriteOutcome {
  const { old, now } = write;
  const writerBypasses = write.bypass?.granted ?? false;
  const held = old && write.closed && !writerBypasses ? { ...write, old, closed: write.closed } : undefined;
  const content = held ? decideBehindClosedGate(held) : manageFields(write);
  if (content.denial) return content;

  // The Gates of the object as it will be stored: one that begins to select it in this very write counts too.
  const gates = evaluateObjectGates(content.object, write);
  const bypassing = bypassingRollouts(old, gates.heldBy, write);
  const object = held ? withBypassingFields(content.object, bypassing, held) : content.object;
  // From here on only spec.suspend and our annotations change.
  const settled = settleSuspension({
    object: annotate(object, SELECTED_BY, selectedByText(gates)),
    sent: write.object,
    old,
    gates,
    fieldManager: write.fieldManager,
    writerBypasses,
    deploymentBypasses: bypassing.size > 0,
    applier: write.applier,
    now,
  });
  return {
    object: recordReason(settled, old, write.user, now, write.reasonCounts ?? false),
    warnings: [...content.warnings, ...writeWarnings(write, settled, gates)],
    revertReason: content.revertReason,
  };
}

/** The Gates of a write. A DELETE has no object. */
export function gatesOfWrite(
  { object, old: stored }: { object: FluxObject | undefined; old: FluxObject | undefined },
  context: GateContext,
): WriteGates {
  if (!stored) return context;
  const old = object ? withShrinkingEdits(object, stored, context) : stored;
  return { ...context, old, oldGates: evaluateObjectGates(old, context) };
}

/** Whether closed Gates hold the object in this write, whatever its Rollouts deploy: then they need not be read. */
export function isHeld(object: FluxObject | undefined, { old, oldGates }: WriteGates): boolean {
  if (!object || !old || !oldGates?.closed) return false;
  const isBypassing = storedState(object)?.is === 'bypassing' || storedState(old)?.is === 'bypassing';
  if (isBypassing || freshReason(object, old) !== undefined) return false;
  // A Rollout's deployment that bypasses these closures sets the managed fields of a bypassed object too.
  return currentState(old, oldGates.heldBy) === 'closed';
}

// Behind a closed Gate (docs/reference/writes.md): an apply is reverted, any other change of what Gates govern denied.

/** A write of an object that closed Gates hold. */
type HeldWrite = FluxWrite & { old: FluxObject; closed: ClosedGates };

/**
 * The stored object behind closed Gates, or the denial. No governed field changes, except for a bypassing deployment. A
 * value that the write changes in form only keeps its stored form, so that neither spec nor generation changes.
 */
function decideBehindClosedGate(write: HeldWrite): WriteOutcome {
  const { old, closed, fieldManager, user } = write;
  const suspends = isSuspendingWrite(write);
  const sent = suspends ? withStoredFields(write.object, old) : write.object;
  const object = withStoredForm(sent, old);
  const isApply = isApplyBy(fieldManager, object) || isApplyBy(fieldManager, old);
  const escapes = escapesSelection(object, old, write);
  const denied = new FewPaths();
  let isReverted = false;
  const visit = (change: Change) => {
    if (isAlwaysFree(change, user, suspends)) return;
    if (isReappliedLater(change, write, isApply)) isReverted = true;
    // A user may change labels by which no Gate selects the object.
    else if (escapes || !isLabel(change)) denied.add(change.path);
  };
  const writers = writersOf(object, old);
  governedChanges(object, old, visit, writers);
  labelChanges(object, old, visit, writers);
  if (denied.count > 0) return { denial: heldDenial(sent, write, denied.text), warnings: [] };
  const stored = [DEPLOYED, ARTIFACT, AWAITS_ARTIFACT].reduce(
    (result, key) => annotate(result, key, old.metadata.annotations?.[key]),
    isReverted ? withStoredContent(object, old) : object,
  );
  if (!isReverted) return { object: stored, warnings: [] };
  return { object: stored, warnings: [revertWarning(closed)], revertReason: 'gate_closed' };
}

/** The denial, with what to do. `paths`: the fields that the write would change. */
function heldDenial(sent: FluxObject, { old, closed, bypass }: HeldWrite, paths: string): Denial {
  const [field] = changedFields(sent, old);
  const todo = field
    ? managedFieldTodo(old, field, readManagedField(sent, field))
    : { text: bypassText(bypass, 'write', closed) };
  return { reason: 'gate_closed', text: `${subjectOf(old)} cannot be changed (${paths})`, closed, todo };
}

/**
 * Whether a later apply repeats the change, so that it can be reverted without loss. A user's other changes are denied
 * instead, so that the user notices.
 *
 * | writer | sets a value | removes a field, which then has no owner |
 * |---|---|---|
 * | a Git sync | if an apply owns the value | if the sync is an apply |
 * | another one | if it repeats the literal of its last `kubectl apply` | never |
 */
function isReappliedLater({ value, writers }: Change, { isSync = false }: FluxWrite, isApply: boolean): boolean {
  if (value === undefined) return isSync && isApply;
  return isSync ? writers.applied(value) : writers.repeated(value);
}

/** Whether a closed Gate always allows the change. */
function isAlwaysFree({ path, value }: Change, user: string, suspends: boolean): boolean {
  // The garbage collector removes owner references.
  if (path[1] === 'ownerReferences' && isSystemDeleter(user)) return true;
  if (suspends && path[0] === 'spec') return true;
  // A closed Gate suspends the object too. The user's suspension stays after the opening.
  return path.length === 2 && path[0] === 'spec' && path[1] === 'suspend' && value === true;
}

function isLabel({ path }: Change): boolean {
  return path[0] === 'metadata' && path[1] === 'labels';
}

/**
 * The new object with everything that an apply writes as it was stored, including managedFields. An apply that drops a
 * field also gives up its ownership: without that, a reverted removal would never be repeated (docs/facts.md, F3).
 */
function withStoredContent(object: FluxObject, { metadata: before, spec }: FluxObject): FluxObject {
  const { labels: _l, annotations: _a, ownerReferences: _o, managedFields: _m, ...rest } = object.metadata;
  const { labels, annotations, ownerReferences, managedFields } = before;
  const stored = Object.entries({ labels, annotations, ownerReferences, managedFields }).filter(([, value]) => value);
  return { ...object, metadata: { ...rest, ...Object.fromEntries(stored) }, ...(spec && { spec }) };
}

/**
 * Whether the write is a decorator's that suspends the object. Only another webhook can change the spec in it. Such a
 * change is stored, except in managed fields: after a denial the object would go on running.
 */
export function isSuspendingWrite(write: FluxWrite): boolean {
  const { old, oldGates, isByDecorator } = write;
  if (!isByDecorator || !old || isSuspendedByUs(old) || old.metadata.deletionTimestamp) return false;
  const heldBy = oldGates?.heldBy ?? [];
  const isBypassed = currentState(old, heldBy) === 'bypassed';
  return heldBy.length > 0 && !isBypassed && bypassingRollouts(old, heldBy, write).size === 0;
}

/** The object with its managed fields as they are stored. */
function withStoredFields(object: FluxObject, old: FluxObject): FluxObject {
  return writeManagedFields(
    object,
    changedFields(object, old).map((field) => [field, readManagedField(old, field)]),
  );
}

/** The managed fields of the stored object to which the write gives other values. */
function changedFields(object: FluxObject, old: FluxObject): ManagedField[] {
  return managedFieldsOf(old).fields.filter(
    (field) => readManagedField(object, field) !== readManagedField(old, field),
  );
}

/**
 * The held object with the managed fields of deployments that bypass the Gates. The fields stay if the write changes
 * their annotations or the source.
 */
function withBypassingFields(kept: FluxObject, bypassing: ReadonlyMap<string, Rollout>, write: HeldWrite): FluxObject {
  const { object, old } = write;
  const hasSameFields =
    sameJson(object.spec?.sourceRef, old.spec?.sourceRef) &&
    sameJson(managedFieldsOf(object).fields, managedFieldsOf(old).fields);
  if (bypassing.size === 0 || !hasSameFields) return kept;
  const withGitValues = writeManagedFields(kept, valuesFromGit(object, bypassing));
  return setManagedFields({ ...write, object: withGitValues, rollouts: bypassing }).object;
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
function manageFields(write: FluxWrite): WriteOutcome {
  const { object } = write;
  const outcome = setManagedFields(write);
  const { denials, warnings } = outcome;
  if (denials.length > 0) {
    const text = `${subjectOf(object)}: ${denials.map((each) => each.text).join(' ')}`;
    const commands = denials.flatMap((each) => each.commands ?? []);
    return { denial: { reason: 'managed_field', text, todo: { commands } }, deniedFields: denials, warnings };
  }
  return { object: outcome.object, warnings, revertReason: outcome.isReverted ? 'managed_field' : undefined };
}
