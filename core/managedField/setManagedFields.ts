/**
 * The managed fields of an object after one write (docs/reference/writes.md): the variables of a Kustomization, or the
 * tag of an OCIRepository.
 */
import { ARTIFACT, AWAITS_ARTIFACT, DEPLOYED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { DeploymentRef, ManagedField, Rollout } from '../../api/types.ts';
import { annotate } from '../kube/annotate.ts';
import { newProblems } from '../kube/fieldProblem.ts';
import { sameJson } from '../kube/json.ts';
import { MAX_TAG_CHARACTERS, tagWord } from '../kube/tag.ts';
import { type Writers, writersAt, writersOf } from '../kube/writers.ts';
import type { TextWithCommands } from '../text/commands.ts';
import { shortened } from '../text/oneLine.ts';
import { nameWord } from '../text/shell.ts';
import { type AtomicUpdate, atomicUpdate, unhandledRequest, withArtifact } from './atomicUpdate.ts';
import {
  deploymentOf,
  deploymentsOn,
  deploymentText,
  deploymentWith,
  deployVersionCommand,
  formatDeployments,
  isSameVersion,
  isSetByGit,
  setByGit,
  withVersion,
} from './deployment.ts';
import {
  fieldKey,
  fieldPath,
  managedFieldsOf,
  readManagedField,
  strongerRefs,
  writeManagedFields,
} from './managedFields.ts';

/** The objects on which the managed fields of a Flux object depend. */
export interface ManagedFieldInputs {
  /** The Rollouts that the object names and that exist, by name. */
  rollouts: ReadonlyMap<string, Rollout>;
  /** The source in a Kustomization's `spec.sourceRef`, if it exists in the same namespace; see atomicUpdate.ts. */
  source?: FluxObject;
  /** Whether the object keeps its annotations about the source, which is not read: see `needsNoSource`. */
  keepsArtifact?: boolean;
}

interface ManagedFieldsWrite extends ManagedFieldInputs {
  /** The object as the writer wants it. */
  object: FluxObject;
  /** The object as stored; absent on CREATE. */
  old?: FluxObject;
}

interface ManagedFieldsOutcome {
  /** The object to store: with its managed fields, and the annotation of the deployments. */
  object: FluxObject;
  warnings: string[];
  /** Whether something that the writer wanted was changed back or removed. */
  isReverted: boolean;
  /** Why the write is denied; empty if it is allowed. */
  denials: FieldDenial[];
}

/** The denial of a value that the write sets. */
export interface FieldDenial extends TextWithCommands {
  field: ManagedField;
  value: string;
}

interface FieldDecision {
  value: string | undefined;
  deployment?: DeploymentRef;
  /** The Warning for the writer, if the field is set back to the managed value. */
  revertText?: string;
  warning?: string;
  denial?: FieldDenial;
  /** Whether Git sets the field: the value stays as the write has it. */
  byGit?: true;
}

/** The context of the decisions on all managed fields in one write: each text is parsed once. */
interface FieldsContext extends ManagedFieldsWrite {
  fields: readonly ManagedField[];
  /** undefined unless one Rollout sets variables here and the tag of the source. */
  atomic: AtomicUpdate | undefined;
  wasManaged(field: ManagedField): boolean;
  /** Deployments by Rollout, from the old object, or from the new one on CREATE. */
  deployments: ReadonlyMap<string, DeploymentRef>;
  /** The Rollouts with deployments whose fields Git sets. */
  byGit: ReadonlySet<string>;
  isApply(field: ManagedField): boolean;
}

/** The object with the values of its Rollouts' deployments, or the denials of the writer's values. */
export function setManagedFields(write: ManagedFieldsWrite): ManagedFieldsOutcome {
  const { object: written, old, source, keepsArtifact } = write;
  const { fields, problems } = managedFieldsOf(written);
  const before = old && managedFieldsOf(old);
  const context = contextOf(write, fields, before?.fields ?? []);
  const warnings = newProblems(problems, before?.problems);
  const denials: FieldDenial[] = [];
  const revertTexts: string[] = [];
  const deployments = new Map<string, DeploymentRef>();
  const byGit = new Set<string>();
  const values: [ManagedField, string | undefined][] = [];
  for (const field of fields) {
    const decision = decideField(field, context);
    if (decision.revertText) revertTexts.push(decision.revertText);
    if (decision.warning) warnings.push(decision.warning);
    if (decision.denial) denials.push(decision.denial);
    if (decision.deployment && !deployments.has(field.rollout)) deployments.set(field.rollout, decision.deployment);
    if (decision.byGit) byGit.add(field.rollout);
    if (decision.byGit || (!decision.deployment && decision.revertText === undefined)) continue;
    const stronger = strongerRefs(written, field);
    if (stronger.length > 0)
      revertTexts.push(
        `${stronger.join(' and ')} removed from spec.ref: Flux prefers ${stronger.length > 1 ? 'them' : 'it'} to the tag`,
      );
    values.push([field, decision.value]);
  }
  const carried = deployments.size > 0 ? formatDeployments([...deployments.values()], byGit) : undefined;
  const marked = annotate(writeManagedFields(written, values), DEPLOYED, carried);
  const object = keepsArtifact ? marked : withArtifact(marked, old, source, context.atomic);
  return { object, warnings: [...revertTexts, ...warnings], isReverted: revertTexts.length > 0, denials };
}

/**
 * Whether a write can be decided without the object's source: the object carries the newest deployments of its
 * Rollouts, its source had fetched them by then, and the write changes none of this. The source is better not read:
 * while source-controller handles a new spec, it counts as not fetched, and the write would suspend the object.
 */
export function needsNoSource(object: FluxObject, old: FluxObject, rollouts: ReadonlyMap<string, Rollout>): boolean {
  const deployments = deploymentsOn(old);
  const { fields } = managedFieldsOf(old);
  const hasStoredAnnotations = [ARTIFACT, AWAITS_ARTIFACT, DEPLOYED].every(
    (key) => object.metadata.annotations?.[key] === old.metadata.annotations?.[key],
  );
  return (
    hasStoredAnnotations &&
    unhandledRequest(old) === undefined &&
    old.metadata.annotations?.[ARTIFACT] !== undefined &&
    old.metadata.annotations?.[AWAITS_ARTIFACT] === undefined &&
    sameJson(object.spec?.sourceRef, old.spec?.sourceRef) &&
    sameJson(managedFieldsOf(object).fields, fields) &&
    fields.every(({ rollout }) => {
      const head = deploymentOf(rollouts.get(rollout));
      const carried = deployments.get(rollout);
      return head && carried && isSameVersion(head, carried);
    })
  );
}

function contextOf(
  write: ManagedFieldsWrite,
  fields: readonly ManagedField[],
  before: readonly ManagedField[],
): FieldsContext {
  const { object, old, rollouts, source } = write;
  const managed = new Set(before.map(fieldKey));
  const stored = old ?? object;
  let writers: Writers | undefined;
  return {
    ...write,
    fields,
    atomic: atomicUpdate(fields, rollouts, source),
    wasManaged: (field) => managed.has(fieldKey(field)),
    deployments: deploymentsOn(stored),
    byGit: setByGit(stored.metadata.annotations?.[DEPLOYED]),
    isApply(field) {
      writers ??= writersOf(object, old);
      return writersAt(fieldPath(field), writers).applied(readManagedField(object, field));
    },
  };
}

function decideField(field: ManagedField, context: FieldsContext): FieldDecision {
  const rollout = context.rollouts.get(field.rollout);
  if (rollout ? isSetByGit(rollout) : context.byGit.has(field.rollout)) return leaveToGit(field, context);
  const deployed = deploymentOf(rollout);
  if (!deployed) return keepStored(field, context);
  if (context.atomic?.rollout !== field.rollout) return setDeployed(field, deployed, context);
  // The version that the source has fetched, or else the version that the object got from the source before. A new
  // object gets the head: it runs no older version that could be mixed with it.
  const target = context.atomic.fetched ?? (context.old ? context.deployments.get(field.rollout) : context.atomic.head);
  return target ? setDeployed(field, target, context) : stayUntilFetched(field, deployed, context);
}

/**
 * The decision on a field that Git sets: the value stays, and the annotation names the deployment with this value. It
 * names none if the object's fields of this Rollout differ.
 */
function leaveToGit(field: ManagedField, context: FieldsContext): FieldDecision {
  const value = readManagedField(context.object, field);
  const own = context.fields.filter(({ rollout }) => rollout === field.rollout);
  if (value === undefined || own.some((each) => readManagedField(context.object, each) !== value))
    return { value, byGit: true };
  const kept = context.deployments.get(field.rollout);
  const rollout = context.rollouts.get(field.rollout);
  const deployment = deploymentOf(rollout) ? deploymentWith(rollout!, value) : kept && withVersion(kept, value);
  return { value, deployment, byGit: true };
}

/**
 * The decision on a field that gets the version of the deployment.
 *
 * | the write | the writer gets |
 * |---|---|
 * | leaves the value | the version, without a Warning |
 * | removes the value | the version, with a Warning |
 * | sets another value by an apply, or begins to bind the field | the version, with a Warning |
 * | sets another value by an edit | a denial |
 */
function setDeployed(field: ManagedField, deployed: DeploymentRef, context: FieldsContext): FieldDecision {
  const value = readManagedField(context.object, field);
  const wasManaged = context.wasManaged(field);
  const decision: FieldDecision = { value: deployed.version, deployment: deployed };
  const cause = `Rollout '${field.rollout}' manages it. To change it, deploy on the Rollout`;
  const stays = `${shortName(field)} stays ${deployed.version}: ${cause}`;
  if (value === deployed.version) return decision;
  // The writer did not change the field: the Rollout has deployed this version since.
  if (context.old && value === readManagedField(context.old, field)) return decision;
  if (value === undefined) return wasManaged ? { ...decision, revertText: stays } : decision;
  if (!wasManaged || context.isApply(field)) return { ...decision, revertText: stays };
  return { ...decision, denial: denialOf(field, deployed, value, context) };
}

/** The decision while the source is fetching the first deployment: the value stays as it was. */
function stayUntilFetched(field: ManagedField, deployed: DeploymentRef, context: FieldsContext): FieldDecision {
  const value = readManagedField(context.object, field);
  const oldValue = context.old && readManagedField(context.old, field);
  if (value === oldValue || !context.wasManaged(field)) return { value };
  if (value !== undefined && !context.isApply(field))
    return { value, denial: denialOf(field, deployed, value, context) };
  const awaited = deploymentText(deployed);
  const revertText = `${shortName(field)} stays ${oldValue ?? 'unset'} until the object's source has fetched ${awaited}`;
  return { value: oldValue, revertText };
}

/**
 * The decision on a field whose Rollout does not exist or has deployed nothing. Only the object's own annotation may
 * name a deployment.
 */
function keepStored(field: ManagedField, context: FieldsContext): FieldDecision {
  const value = readManagedField(context.object, field);
  const kept = context.deployments.get(field.rollout);
  // The object may come from a backup: its annotation counts if the object has that version.
  if (!context.old) return { value, deployment: kept?.version === value ? kept : undefined };
  const oldValue = readManagedField(context.old, field);
  if (!kept || value === oldValue) return { value, deployment: kept };
  const why = context.rollouts.has(field.rollout) ? 'has deployed nothing yet' : 'does not exist';
  if (value === undefined || (oldValue !== undefined && context.isApply(field))) {
    return {
      value: oldValue,
      deployment: kept,
      revertText: `${shortName(field)} stays ${oldValue}: Rollout '${field.rollout}' ${why}`,
    };
  }
  const warning = `${shortName(field)} is set to ${value}. Rollout '${field.rollout}' ${why}, so nothing keeps this value`;
  // A Rollout that is created later adopts the object's current version, so the annotation names this one, not the old
  // one.
  return { value, deployment: withVersion(kept, value), warning };
}

function shortName(field: ManagedField): string {
  return field.variable ?? 'spec.ref.tag';
}

function denialOf(
  field: ManagedField,
  deployed: DeploymentRef,
  value: string,
  { object, rollouts }: FieldsContext,
): FieldDenial {
  const wanted = rollouts.get(field.rollout)?.spec?.wantedVersion;
  const rollout = { namespace: object.metadata.namespace, name: field.rollout };
  const version = tagWord(value);
  const pin = deployVersionCommand(rollout, value, { isPinned: true });
  return {
    field,
    value,
    text:
      `${fieldPath(field).join('.')} cannot be set to '${shortened(value, MAX_TAG_CHARACTERS)}': ` +
      `Rollout '${field.rollout}' manages it and has deployed ` +
      `'${deployed.version}'.${wanted ? ` That Rollout is pinned to '${wanted}'.` : ''}`,
    commands: wanted
      ? [[`To pin Rollout ${nameWord(field.rollout)} to ${version}`, pin]]
      : [
          [`To deploy ${version} on that Rollout`, deployVersionCommand(rollout, value)],
          [`To deploy ${version} and stay on it`, pin],
        ],
  };
}
